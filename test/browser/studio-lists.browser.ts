import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openChromium } from './chromium.ts'
import { startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

const COUNT = 420
/** Rows in the page are those near the window. */
const MOST_ROWS = 80

const receiver = createServer((request, answer) => {
  request.resume()
  answer.writeHead(204).end()
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
t.teardown(() => receiver.close())
const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`

const service = await startService(t, { KEYHOOK_WEBHOOK_ALLOW: host })
const browser = await openChromium(t)
const visitor = await openVisitor(t, browser, service)
const { page, faults } = visitor

const table = (name: string) => page.getByRole('table', { name })
const links = (name: string) => table(name).getByRole('row').getByRole('link')

await service.ask('PUT', '/v1/event-types/order.paid', { description: 'An order was paid.' })
const { id: webhook } = await service.ask<{ id: string }>('POST', '/v1/webhooks', {
  url: `http://${host}/in`,
  events: ['order.paid'],
})
for (let made = 0; made < COUNT; made += 20) {
  const data = (at: number): object => ({ type: 'order.paid', data: { number: made + at } })
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => service.ask('POST', '/v1/events', { ...data(at) })),
  )
}

/** Scrolls as a wheel does until the list is at its end. */
async function scrollToEnd(name: string): Promise<void> {
  await table(name).hover()
  for (let turns = 0; turns < 400; turns++) {
    if ((await table(name).getAttribute('aria-rowcount')) !== '-1') return
    await page.mouse.wheel(0, 2000)
    await page.waitForTimeout(30)
  }
  throw new Error(`${name} has no end`)
}

/** Scrolls over some pages of the list, and reads them. */
async function scrollOn(): Promise<void> {
  await page.mouse.move(600, 400)
  for (let turn = 0; turn < 12; turn++) {
    await page.mouse.wheel(0, 800)
    await page.waitForTimeout(100)
  }
  await page.waitForLoadState('networkidle')
}

/** Scrolls with each frame, and tells where each left the window. */
const STEADILY = `new Promise((resolve) => {
  const places = []
  requestAnimationFrame(function next() {
    places.push(scrollY)
    if (places.length === 40) return resolve(places)
    scrollBy(0, 400)
    requestAnimationFrame(next)
  })
})`

/** The first row below the bar, and where it is. */
const ANCHOR = `(() => {
  for (const row of document.querySelectorAll('tr[data-index]')) {
    const { top } = row.getBoundingClientRect()
    if (top >= 48) return { href: row.querySelector('a').href, top: Math.round(top) }
  }
})()`

interface Anchor {
  readonly href: string
  readonly top: number
}

await t.test(
  'a long list is read as it is scrolled, and holds the rows near the window',
  async (t) => {
    await signIn(visitor, service)
    await page.goto(`${service.url}/studio/events`)
    await links('Events').first().waitFor()
    t.equal(await table('Events').getAttribute('aria-rowcount'), '-1', 'nobody counted them yet')
    await lookAt(t, page, 'list-long')
    await page.setViewportSize({ width: 1280, height: 720 })
    await scrollToEnd('Events')
    t.equal(await table('Events').getAttribute('aria-rowcount'), String(COUNT + 1))
    await page.mouse.wheel(0, 100_000)
    await page.locator(`tr[aria-rowindex="${COUNT + 1}"]`).waitFor()
    t.ok((await table('Events').getByRole('row').count()) < MOST_ROWS)
    await page.getByText(`${COUNT} in all`).waitFor()
    await page.getByText('your browser’s own search finds only those near it').waitFor()
    const widths = await page.evaluate<readonly number[]>(
      `[...document.querySelectorAll('thead th')].map((one) => one.offsetWidth)`,
    )
    await page.mouse.wheel(0, -100_000)
    await page.locator('tr[aria-rowindex="2"]').waitFor()
    t.strictSame(
      await page.evaluate(
        `[...document.querySelectorAll('thead th')].map((one) => one.offsetWidth)`,
      ),
      widths,
      'columns stay where they are',
    )
  },
)

await t.test('deliveries, keys and the audit log too', async (t) => {
  await page.goto(`${service.url}/studio/webhooks/${webhook}`)
  await links('Deliveries').first().waitFor()
  const places = await page.evaluate<readonly number[]>(STEADILY)
  t.strictSame(
    places,
    places.toSorted((a, b) => a - b),
    'rows that are measured do not move the window back',
  )
  await scrollToEnd('Deliveries')
  t.equal(await table('Deliveries').getAttribute('aria-rowcount'), String(COUNT + 1))
  for (let made = 0; made < 60; made++) {
    await service.ask('POST', '/v1/keys', { name: `key ${made}`, scopes: ['events:read'] })
  }
  await page.goto(`${service.url}/studio/keys`)
  await links('Keys').first().waitFor()
  await scrollToEnd('Keys')
  t.equal(await table('Keys').getAttribute('aria-rowcount'), '62', 'and the one of the owner')
  await page.goto(`${service.url}/studio/audit`)
  await table('Audit entries').getByText('key.created').first().waitFor()
  await scrollToEnd('Audit entries')
  t.ok(Number(await table('Audit entries').getAttribute('aria-rowcount')) > 62)
})

await t.test('Tab goes from row to row, and the focus stays where it is left', async (t) => {
  await page.goto(`${service.url}/studio/events`)
  await links('Events').first().focus()
  for (let row = 0; row < 60; row++) await page.keyboard.press('Tab')
  const row = page.locator('tr:focus-within')
  t.equal(await row.getAttribute('aria-rowindex'), '62')
  const { y = -1 } = (await row.boundingBox()) ?? {}
  t.ok(y > 0 && y < 720, 'it is in the window')
  const href = await row.getByRole('link').getAttribute('href')
  await scrollOn()
  t.equal(await row.getByRole('link').getAttribute('href'), href, 'out of sight')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'order.paid' }).waitFor()
  t.equal(new URL(page.url()).pathname, href)
})

await t.test('who comes back finds the list where it was', async (t) => {
  await page.goto(`${service.url}/studio/events`)
  await links('Events').first().waitFor()
  await scrollOn()
  const left = await page.evaluate<Anchor>(ANCHOR)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.locator(`tr a[href="${new URL(left.href).pathname}"]`).click()
  await page.getByRole('heading', { name: 'order.paid' }).waitFor()
  await page.goBack()
  await table('Events').waitFor()
  await page.waitForLoadState('networkidle')
  t.strictSame(await page.evaluate<Anchor>(ANCHOR), left)
  t.notOk(
    asked.some((url) => url.includes('/v1/events?')),
    'a long list is not read again by itself',
  )
  await page.getByRole('button', { name: 'Refresh list' }).click()
  await page.getByText('The first 50').waitFor()
  t.equal(await page.evaluate('scrollY'), 0)
})

await t.test(
  'a list of two pages is read again by itself; a longer one only when asked',
  async (t) => {
    await page.clock.install()
    await page.goto(`${service.url}/studio/events`)
    await links('Events').first().waitFor()
    await page.waitForLoadState('networkidle')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const reads = (): number => asked.filter((url) => url.includes('/v1/events?')).length
    await page.clock.runFor(11_000)
    t.equal(reads(), 1)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('The first 100').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('The first 150').waitFor()
    asked.length = 0
    await page.clock.runFor(60_000)
    t.equal(reads(), 0)
  },
)

await t.test('what cannot be read further is said once, and tried again when asked', async (t) => {
  let answers = 0
  const further = /\/v1\/events\?.*cursor=/
  await page.route(further, (route) => {
    answers++
    return route.fulfill({
      status: 500,
      json: { error: { code: 'internal_error', message: 'It broke.', status: 500 } },
    })
  })
  await page.goto(`${service.url}/studio/events`)
  await links('Events').first().waitFor()
  await page.mouse.move(600, 400)
  await page.mouse.wheel(0, 100_000)
  await page.getByRole('alert').getByText('It broke.').first().waitFor()
  const before = answers
  await page.mouse.wheel(0, -400)
  await page.mouse.wheel(0, 400)
  await page.clock.runFor(2000)
  t.equal(answers, before)
  await page.unroute(further)
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText('The first 100').waitFor()
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

await t.test('a search that finds nothing in a page goes on only when asked', async (t) => {
  let answers = 0
  const further = /\/v1\/events\?.*cursor=/
  await page.route(further, (route) => {
    answers++
    return route.fulfill({ json: { data: [], has_more: true, next_cursor: 'further' } })
  })
  await page.goto(`${service.url}/studio/events`)
  await links('Events').first().waitFor()
  await page.mouse.move(600, 400)
  await page.mouse.wheel(0, 100_000)
  await page.waitForResponse(further)
  await page.mouse.wheel(0, -400)
  await page.mouse.wheel(0, 400)
  await page.clock.runFor(2000)
  t.equal(answers, 1)
  await page.getByText('The first 50').waitFor()
})

await t.test('no error, no breach of the policy, no request elsewhere', (t) => {
  const refused = /responded with a status of 500/
  t.strictSame(
    faults.filter((fault) => !refused.test(fault)),
    [],
  )
  t.end()
})

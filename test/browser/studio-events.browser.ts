import t from 'tap'
import { openChromium } from './chromium.ts'
import type { Body } from './service.ts'
import { startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

const service = await startService(t)
const browser = await openChromium(t)
const visitor = await openVisitor(t, browser, service)
const { page, faults } = visitor
const main = page.getByRole('main')
const table = page.getByRole('table', { name: 'Events' })
const matched = main.getByRole('status').filter({ hasText: /^Events of/ })

const publish = (type: string, more: Body = {}): Promise<Body> =>
  service.ask('POST', '/v1/events', { type, data: { order_id: 'o_1' }, ...more })

const typesShown = (): Promise<string[]> => table.getByRole('link').allTextContents()
const idsShown = (): Promise<string[]> => table.getByText(/^evt_/).allTextContents()

async function addToken(label: string, value: string): Promise<void> {
  const field = page.getByRole('combobox', { name: label })
  await field.fill(value)
  await field.press('Enter')
}

let app = ''

await t.test(
  'events are found by types, app and time, and the address is the search',
  async (t) => {
    for (const type of ['order.paid', 'order.sent', 'order.lost', 'order.kept']) {
      await service.ask('PUT', `/v1/event-types/${type}`, { description: 'Of an order.' })
    }
    app = (await service.makeApp({ template_id: 'blank', name: 'Shop' })).id
    for (const type of ['order.paid', 'order.sent', 'order.lost', 'order.kept']) {
      await publish(type)
    }
    await publish('order.paid', { app_id: app })
    await signIn(visitor, service)
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Events' })
      .click()
    await matched.getByText('Events of every type, newest first.').waitFor()
    await addToken('Types', 'order.paid')
    await page.waitForURL(/type=order\.paid/)
    await matched.getByText('Events of the type order.paid, newest first.').waitFor()
    await page.getByText('2 in all').waitFor()
    await addToken('Types', 'order.sent')
    await page.waitForURL(/type=order\.paid(,|%2C)order\.sent/)
    await page.getByText('3 in all').waitFor()
    t.strictSame((await typesShown()).sort(), ['order.paid', 'order.paid', 'order.sent'])

    const newestFirst = await idsShown()
    await page.getByLabel('Order', { exact: true }).selectOption('Oldest first')
    await page.waitForURL(/order=asc/)
    await matched.getByText('oldest first.').waitFor()
    await page.getByText('3 in all').waitFor()
    t.strictSame(await idsShown(), newestFirst.toReversed())

    await page.getByRole('button', { name: 'Remove order.sent' }).click()
    await addToken('App', app)
    await page.getByText('1 in all').waitFor()
    await page.getByRole('button', { name: 'Last hour' }).click()
    await page.waitForURL(/since=/)
    await matched.getByText('since').waitFor()
    await page.getByText('1 in all').waitFor()
    await lookAt(t, page, 'events')
    await page.reload()
    await page.getByText('1 in all').waitFor()
    await page.getByRole('button', { name: 'Remove order.paid' }).waitFor()
    await page.getByRole('button', { name: `Remove Shop (${app})` }).waitFor()
    const since = await page.getByLabel('Since').inputValue()
    t.match(since, /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/)

    await page.getByLabel('Before').fill('2020-01-01T00:01')
    await page.getByLabel('Since').fill('2019-01-01T00:01')
    await page.getByLabel('Since').press('Enter')
    await page.getByText('No event that is kept matches these filters.').waitFor()
    await page.getByLabel('Since').fill('2021-01-01T00:01')
    await page.getByLabel('Since').press('Enter')
    await page.getByRole('alert').getByText('Must lie before until.').waitFor()
    await lookAt(t, page, 'events-refused')
    await main.getByRole('link', { name: 'Clear filters' }).click()
    await matched.getByText('Events of every type, newest first.').waitFor()
  },
)

await t.test('a search is shared by its link, and found again', async (t) => {
  await page.goto(`${service.url}/studio/events?type=order.lost`)
  await page.getByText('1 in all').waitFor()
  await page.getByRole('button', { name: 'Copy link to this search' }).click()
  await page.getByRole('button', { name: 'Link copied' }).waitFor()
  t.equal(await page.evaluate('navigator.clipboard.readText()'), page.url())
  // A search is kept once it stands for a while.
  while (!(await page.evaluate<string>('JSON.stringify(localStorage)')).includes('order.lost')) {
    await page.getByText('1 in all').waitFor()
  }
  await page.goto(`${service.url}/studio/events?type=order.kept`)
  await page.getByText('1 in all').waitFor()
  const recent = page.getByText('Recent searches')
  await recent.click()
  const lost = page
    .getByRole('list', { name: 'Recent searches' })
    .getByRole('link', { name: 'Events of the type order.lost, newest first' })
  await lost.waitFor()
  await lookAt(t, page, 'events-recent')
  await lost.click()
  await page.waitForURL(/type=order\.lost/)
  await table.getByRole('link', { name: 'order.lost' }).waitFor()

  // Whoever signs in next in this browser does not see them.
  t.strictSame(
    await page
      .evaluate<string[]>(`Object.keys(localStorage).filter((name) => name.includes('event'))`)
      .then((names) => names.map((name) => name.replace(/[0-9a-f-]{36}$/, 'user'))),
    ['keyhook.event-searches.user'],
  )
  await page.getByRole('button', { name: 'Forget them' }).click()
  await recent.waitFor({ state: 'detached' })
  await table.getByRole('link', { name: 'order.lost' }).click()
  await page.getByRole('button', { name: 'Copy link to this event' }).click()
  t.equal(await page.evaluate('navigator.clipboard.readText()'), page.url())
})

await t.test('an event is found by its id, or the page says that there is none', async (t) => {
  await page.goto(`${service.url}/studio/events`)
  await page.getByRole('textbox', { name: 'Event id' }).fill('evt_none')
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByRole('alert').getByText('event_not_found').waitFor()
  await lookAt(t, page, 'event-not-found')
})

await t.test('a search that finds nothing says what to do next', async (t) => {
  await page.goto(`${service.url}/studio/events?type=order.none`)
  await page.getByText('and no such type is declared').waitFor()
  await lookAt(t, page, 'events-none')
  await main.getByRole('link', { name: 'order.paid', exact: true }).click()
  await page.waitForURL(/type=order\.paid/)
  await page.getByText('2 in all').waitFor()
  await service.ask('PUT', '/v1/event-types/order.back', { description: 'Back.' })
  await page.goto(`${service.url}/studio/events?type=order.back`)
  await page.getByText('keyhook event publish --type order.back').waitFor()
  await page.goto(`${service.url}/studio/events?type=evt_none`)
  await page.getByRole('link', { name: 'Open the event with this id' }).waitFor()
  await page.goto(`${service.url}/studio/events?type=app.deployed`)
  await main.getByRole('link', { name: 'Show events of every type' }).click()
  await matched.getByText('Events of every type, newest first.').waitFor()
  t.notMatch(page.url(), /type=/)
})

await t.test('no error, no breach of the policy, no request elsewhere', (t) => {
  const refused = /responded with a status of (400|404)/
  t.strictSame(
    faults.filter((fault) => !refused.test(fault)),
    [],
  )
  t.end()
})

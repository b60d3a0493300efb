import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { freePort } from '../support/free-port.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { openChromium } from './chromium.ts'
import type { Body } from './service.ts'
import { startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor } from './studio/visitor.ts'

const TOKEN = 'an-operator-token-of-thirty-two-characters'
const CANARY = '<img src=x onerror="document.title=`pwned`"><script>document.title="pwned"</script>'
const EVERYTHING = ['keys:*', 'webhooks:*', 'events:read', 'orders:read', 'orders:refund']

/** Pages of a product that shows the portal: the operator names the origin of one alone. */
const EMBEDDERS = { named: await freePort(), other: await freePort() }

// Names of this machine that browsers take for other sites: the frame is a third party's.
const originOf = (port: number): string => `http://localhost:${port}`

const service = await startService(t, {
  KEYHOOK_OPERATOR_TOKEN: TOKEN,
  KEYHOOK_PORTAL_FRAME_ANCESTORS: originOf(EMBEDDERS.named),
  KEYHOOK_SCOPES: 'orders:read|refund',
})
const browser = await openChromium(t)

async function operate<Answer = Body>(
  method: string,
  path: string,
  body?: Body,
  account?: string,
): Promise<Answer> {
  const response = await fetch(service.address + path, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      ...(account === undefined ? {} : { 'keyhook-account': account }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as Answer
}

const { id: account } = await operate<{ id: string }>('POST', '/v1/accounts', { name: 'Acme' })
const page = `<!doctype html><h1>Receiver</h1>${CANARY}`
const receiver = await startReceiver(
  answerWith(`HTTP/1.1 200 OK\r\nContent-Length: ${page.length}\r\n\r\n${page}`),
)
t.teardown(() => receiver.close())

async function linkOf(scopes: readonly string[] = EVERYTHING): Promise<string> {
  const path = `/v1/accounts/${account}/portal-links`
  return (await operate<{ url: string }>('POST', path, { scopes })).url
}

async function openPortal(page: Page, scopes?: readonly string[]): Promise<void> {
  await page.goto(await linkOf(scopes))
}

const visitor = await openVisitor(t, browser, service)
const { page: portal, context, faults } = visitor

await t.test(
  'a link opens the portal, and leaves neither address nor storage behind',
  async (t) => {
    const link = await linkOf()
    const [, token = ''] = link.split('#token=')
    await portal.goto(link)
    await portal.getByRole('heading', { name: 'Keys' }).waitFor()
    t.equal(portal.url(), `${service.url}/portal/keys`)
    const kept = await portal.evaluate<string>(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])',
    )
    t.notMatch(kept, token)
    t.notMatch(kept, /service_p[ls]_/)
    t.match(kept, /^\["",\{\},\{\},/, 'no cookie, no storage')
    t.strictSame(await context.cookies(), [])
    await portal.goBack().catch(() => undefined)
    t.notMatch(portal.url(), token)
    await portal.goto(link)
    await portal.getByRole('alert').getByText('invalid_portal_link').waitFor()
    await lookAt(t, portal, 'portal-used-link')
  },
)

await t.test('keys: of the scopes of the session alone', async (t) => {
  await operate('POST', '/v1/keys', { name: CANARY, scopes: ['keys:read'] }, account)
  await openPortal(portal)
  await portal.getByRole('link', { name: CANARY }).waitFor()
  await lookAt(t, portal, 'portal-keys')
  const places = await portal
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link')
    .allInnerTexts()
  t.strictSame(
    places.map((text) => text.trim()),
    ['Keys', 'Webhooks'],
  )
  await portal.getByRole('link', { name: 'Create key' }).first().click()
  await portal.getByLabel('Name').fill('From the portal')
  const families = await portal.locator('.scope-family code').allInnerTexts()
  t.strictSame(families, ['keys', 'webhooks', 'events', 'orders'])
  await portal.getByRole('checkbox', { name: 'orders:read' }).check()
  t.equal(await portal.getByRole('checkbox', { name: 'orders: every action' }).count(), 0)
  t.equal(await portal.getByText('curl').count(), 0)
  await lookAt(t, portal, 'portal-new-key')
  await portal.getByRole('button', { name: 'Create key' }).click()
  const value = await portal.getByLabel('key', { exact: true }).innerText()
  t.match(value.trim(), /^service_dk_\w{49}$/)
  await portal.getByRole('link', { name: 'Show the key’s page' }).click()
  await portal.getByRole('heading', { name: 'From the portal' }).waitFor()
  await lookAt(t, portal, 'portal-key')
  await portal.getByRole('button', { name: 'Rotate…' }).click()
  await portal.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  await portal.getByRole('dialog').getByText('Copy the key now').waitFor()
  await portal.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  await portal.getByRole('button', { name: 'Revoke…' }).click()
  await portal.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
  await portal.getByText('Revoked').first().waitFor()
  t.equal(await portal.locator('main img, main script').count(), 0)
})

await t.test('webhooks: added, tested, and what was delivered', async (t) => {
  await operate('PUT', '/v1/event-types/order.paid', { description: CANARY }, account)
  await portal.getByRole('link', { name: 'Webhooks' }).first().click()
  await portal.getByRole('heading', { name: 'Webhooks' }).waitFor()
  await portal.getByRole('link', { name: 'Add webhook' }).first().click()
  await portal.getByLabel('Address').fill(`http://127.0.0.1:${receiver.port}/in`)
  await portal.getByLabel('Description (optional)').fill(CANARY)
  await portal.getByRole('checkbox', { name: 'order.paid' }).check()
  await lookAt(t, portal, 'portal-new-webhook')
  await portal.getByRole('button', { name: 'Send a test' }).click()
  await portal.getByText('Copy the signing secret now').waitFor()
  await portal.getByRole('region', { name: 'Response to the test' }).waitFor()
  await lookAt(t, portal, 'portal-webhook-tested')
  await portal.getByRole('button', { name: 'Start sending' }).click()
  await portal.getByRole('button', { name: 'Copy signing secret' }).click()
  await portal.getByRole('link', { name: 'Show the webhook’s page' }).click()
  await portal.getByRole('heading', { name: CANARY }).waitFor()
  await operate('POST', '/v1/events', { type: 'order.paid', data: { note: CANARY } }, account)
  await portal.getByRole('button', { name: 'Send test' }).click()
  await portal.getByRole('link', { name: 'Show the delivery' }).waitFor()
  await portal
    .getByRole('table')
    .getByRole('link', { name: 'order.paid' })
    .waitFor({ timeout: 30_000 })
  await lookAt(t, portal, 'portal-webhook')
  await portal.getByRole('table').getByRole('link', { name: 'order.paid' }).click()
  await portal.getByText('It was delivered.').waitFor()
  await portal.getByText('onerror').first().waitFor()
  await lookAt(t, portal, 'portal-delivery')
  t.equal(await portal.getByRole('link', { name: /^evt_/ }).count(), 0, 'no page of events')
  t.equal(await portal.locator('main img, main script').count(), 0)
  t.notMatch(await portal.title(), /pwned$/)
})

await t.test('a session that may only read is offered nothing else', async (t) => {
  await openPortal(portal, ['keys:read', 'webhooks:read'])
  await portal.getByRole('table', { name: 'Keys' }).waitFor()
  t.equal(await portal.getByRole('link', { name: 'Create key' }).count(), 0)
  await portal.getByRole('table').getByRole('link').first().click()
  await portal.getByRole('heading', { name: 'What it may do' }).waitFor()
  t.equal(await portal.getByRole('button', { name: /Rotate|Revoke/ }).count(), 0)
  await portal.getByRole('link', { name: 'Webhooks' }).first().click()
  await portal.getByRole('table', { name: 'Webhooks' }).getByRole('link').first().click()
  await portal.getByText('Signing secret').waitFor()
  t.equal(await portal.getByRole('button', { name: /Send|Rotate|Disable|Retry/ }).count(), 0)
  await portal.getByRole('table').getByRole('link', { name: 'order.paid' }).click()
  await portal.getByText('This session may not read what was sent.').waitFor()
  await openPortal(portal, ['webhooks:read'])
  await portal.getByRole('heading', { name: 'Webhooks' }).waitFor()
  t.equal(await portal.getByRole('link', { name: 'Keys' }).count(), 0)
})

await t.test('loaded again, it says what to do; ended, too', async (t) => {
  await openPortal(portal)
  await portal.getByRole('heading', { name: 'Keys' }).waitFor()
  await portal.reload()
  await portal.getByRole('heading', { name: 'Open the portal again' }).waitFor()
  await lookAt(t, portal, 'portal-reloaded')
  await openPortal(portal)
  await portal.getByRole('heading', { name: 'Keys' }).waitFor()
  await operate('DELETE', `/v1/accounts/${account}/portal-sessions`)
  await portal.getByRole('link', { name: 'Webhooks' }).first().click()
  await portal.getByRole('heading', { name: 'The session has ended' }).waitFor()
  await openPortal(portal)
  await portal.getByRole('button', { name: 'End session' }).click()
  await portal.getByRole('heading', { name: 'The session has ended' }).waitFor()
})

/** A page of a product that shows an address in a frame. */
async function startEmbedder(t: Test, port: number): Promise<string> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', originOf(port))
    const link = searchParams.get('frame') ?? ''
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      `<!doctype html><title>A product</title><iframe title="Keys" width="900" height="700" ` +
        `allow="clipboard-write" src="${link.replaceAll('"', '&quot;')}"></iframe>`,
    )
  })
  server.listen(port)
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `${originOf(port)}/?frame=`
}

await t.test('in a frame of the origin that the operator names', async (t) => {
  const product = await context.browser()?.newContext()
  if (product === undefined) throw new Error('no browser')
  t.teardown(() => product.close())
  product.setDefaultTimeout(10_000)
  const noted: string[] = []
  product.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) noted.push(message.text())
  })
  product.on('weberror', (error) => noted.push(error.error().message))
  product.on('request', (request) => {
    const { origin } = new URL(request.url())
    const isFramed = request.frame().parentFrame() !== null
    if (isFramed && origin !== new URL(service.url).origin)
      noted.push(`elsewhere: ${request.url()}`)
  })
  const outer = await product.newPage()
  await outer.goto((await startEmbedder(t, EMBEDDERS.named)) + encodeURIComponent(await linkOf()))
  const frame = outer.frameLocator('iframe')
  await frame.getByRole('link', { name: CANARY }).waitFor()
  await frame.getByRole('link', { name: 'Create key' }).first().click()
  await frame.getByLabel('Name').fill('In a frame')
  await frame.getByRole('checkbox', { name: 'keys:read' }).check()
  await frame.getByRole('button', { name: 'Create key' }).click()
  await frame.getByText('Copy the key now').waitFor()
  await frame.getByRole('button', { name: 'Copy key' }).click()
  await frame.getByRole('button', { name: 'Copied' }).waitFor()
  t.strictSame(await product.cookies(), [], 'no cookie of any party')
  t.strictSame(noted, [])
})

for (const [what, ask] of [
  ['the portal in a frame of another origin', linkOf],
  ['Studio in a frame, whoever is named', () => Promise.resolve(`${service.url}/studio/sign-in`)],
] as const) {
  await t.test(`refused: ${what}`, async (t) => {
    const product = await browser.newContext()
    t.teardown(() => product.close())
    const outer = await product.newPage()
    const refused = outer.waitForEvent('console', (message) => /frame/i.test(message.text()))
    const isPortal = ask === linkOf
    const link = await ask()
    const port = isPortal ? EMBEDDERS.other : EMBEDDERS.named
    await outer.goto((await startEmbedder(t, port)) + encodeURIComponent(link))
    t.match((await refused).text(), /frame-ancestors/)
    const [, inner] = outer.frames()
    // The policy is reported before the page that says so is there.
    await inner?.waitForURL(/^chrome-error:/)
    t.match(inner?.url(), /^chrome-error:/)
    t.equal(await outer.frameLocator('iframe').getByRole('heading', { name: 'Keys' }).count(), 0)
    if (!isPortal) return
    await portal.goto(link)
    await portal.getByRole('heading', { name: 'Keys' }).waitFor()
    t.pass('what was refused has not spent the link')
  })
}

await t.test('no error, no breach of the policy, no request elsewhere', (t) => {
  t.strictSame(
    faults.filter((fault) => !/responded with a status of (401|403)/.test(fault)),
    [],
  )
  t.end()
})

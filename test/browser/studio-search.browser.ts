import type { Request } from 'playwright-core'
import t from 'tap'
import { openChromium } from './chromium.ts'
import { startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

const CANARY = '<img src=x onerror="document.title=1"> ${7*7} {{7*7}}'

const service = await startService(t, { KEYHOOK_WEBHOOK_ALLOW: '127.0.0.1' })
const browser = await openChromium(t)
const visitor = await openVisitor(t, browser, service)
const { page, faults } = visitor

const dialog = page.getByRole('dialog', { name: 'Search' })
const field = dialog.getByRole('combobox')
const option = (name: string | RegExp) => dialog.getByRole('option', { name })
const selected = dialog.getByRole('option', { selected: true })

const asked: Request[] = []
page.on('request', (request) => asked.push(request))
const apiRequests = (): readonly string[] =>
  asked
    .map((request) => new URL(request.url()))
    .filter(({ pathname }) => pathname.startsWith('/v1/'))
    .map(({ pathname }) => pathname)

async function open(): Promise<void> {
  await page.getByRole('button', { name: 'Search', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  await field.waitFor()
}

const key = await service.ask<{ id: string }>('POST', '/v1/keys', {
  name: `bakery ${CANARY}`,
  scopes: ['events:read'],
})
const webhook = await service.ask<{ id: string }>('POST', '/v1/webhooks', {
  url: 'http://127.0.0.1:9/bakery-orders',
  events: ['*'],
})
const app = await service.makeApp({ template_id: 'blank', alias: 'bakery' })
await service.ask('PUT', '/v1/event-types/order.paid', { description: 'An order was paid.' })
const event = await service.ask<{ id: string }>('POST', '/v1/events', {
  type: 'order.paid',
  data: {},
})

await t.test(
  'the search opens by its button and its shortcut, and gives the focus back',
  async (t) => {
    await signIn(visitor, service)
    t.notOk(
      asked.some((request) => request.url().includes('/palette-')),
      'nothing of it is loaded',
    )
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await field.waitFor()
    await page.locator('input:focus').and(field).waitFor()
    await lookAt(t, page, 'search')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page
      .locator('button:focus')
      .and(page.getByRole('button', { name: 'Search', exact: true }))
      .waitFor()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Keys' }).focus()
    await open()
    await page.keyboard.press('Escape')
    await page
      .locator('a:focus')
      .and(page.getByRole('link', { name: 'Keys' }))
      .waitFor()
  },
)

await t.test('a page is found with the arrow keys and Enter', async (t) => {
  await open()
  await selected.and(option('Home')).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await selected.and(option('Webhooks')).waitFor()
  t.equal(
    await field.getAttribute('aria-activedescendant'),
    await selected.getAttribute('id'),
    'the field names the option',
  )
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await selected.and(option('Add webhook')).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'New webhook' }).waitFor()
  await page.locator('main:focus').waitFor()
  await open()
  await page.keyboard.type('ledg')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Ledger' }).waitFor()
})

await t.test(
  'records are found by name, address and alias, with one request for each kind',
  async (t) => {
    await open()
    await page.waitForLoadState('networkidle')
    asked.length = 0
    await field.pressSequentially('bakery', { delay: 20 })
    await dialog.getByText('3 matches.').waitFor()
    t.strictSame(apiRequests().toSorted(), ['/v1/apps', '/v1/keys', '/v1/webhooks'])
    await option(/bakery-orders/).waitFor()
    await lookAt(t, page, 'search-found')
    t.equal(await dialog.locator('img').count(), 0, 'a name is text')
    asked.length = 0
    await field.fill('bakery <img')
    await dialog.getByText('1 match.').waitFor()
    t.strictSame(apiRequests(), [], 'what was read is searched again')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: `bakery ${CANARY}` }).waitFor()
    t.equal(new URL(page.url()).pathname, `/studio/keys/${key.id}`)
  },
)

await t.test('a record is found by its id, however old it is', async () => {
  // As if each list had more than is searched.
  await page.route(/\/v1\/(?:apps|keys|webhooks)\?/, (route) =>
    route.fulfill({ json: { data: [], has_more: true, next_cursor: 'more' } }),
  )
  await page.reload()
  const found: readonly (readonly [folder: string, id: string])[] = [
    ['apps', app.id],
    ['webhooks', webhook.id],
    ['events', event.id],
    ['keys', key.id],
  ]
  for (const [folder, id] of found) {
    await open()
    await field.fill(` ${id} `)
    await dialog.getByText(/^1 match\. Apps, Keys, Webhooks: the newest 100/).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname === `/studio/${folder}/${id}`)
  }
  await page.unroute(/\/v1\/(?:apps|keys|webhooks)\?/)
  await page.reload()
  await open()
  await field.fill('order.paid')
  await option('Show events of the type order.paid').click()
  await page.waitForURL(/\/studio\/events\?type=order\.paid/)
  await open()
  await field.fill('nothing of that name')
  await dialog.getByText('Nothing matches “nothing of that name”.').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

await t.test('a later text ends the request of an earlier one', async () => {
  const none = 'evt_0000000000000000000000000'
  await page.route(`**/v1/events/${none}`, () => new Promise(() => undefined))
  await open()
  const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith(none))
  const begun = page.waitForRequest(`**/v1/events/${none}`)
  await field.fill(none)
  await begun
  await field.fill('bakery')
  await ended
  await dialog.getByText('3 matches.').waitFor()
  await page.keyboard.press('Escape')
})

await t.test('what was chosen last is at hand, and the browser keeps no name of it', async (t) => {
  await page.goto(`${service.url}/studio`)
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await open()
  const recent = dialog.getByRole('group', { name: 'Recent' }).getByRole('option')
  await recent.nth(3).waitFor()
  t.match(await recent.first().textContent(), 'bakery', 'the last first')
  await lookAt(t, page, 'search-recent')
  t.notMatch(await page.evaluate('JSON.stringify({ ...localStorage })'), /bakery|127\.0\.0\.1:9/)
  await page.keyboard.press('Escape')
  await service.ask('DELETE', `/v1/webhooks/${webhook.id}`)
  await page.reload()
  await open()
  await recent.nth(2).waitFor()
  await dialog.getByText('Apps, keys and webhooks by name or id').waitFor()
  t.equal(await recent.count(), 3, 'what was deleted is not')
  await page.evaluate(`localStorage.setItem('studio-recent', JSON.stringify({
    user: 'another', records: [{ kind: 'Keys', id: '${key.id}' }] }))`)
  await page.reload()
  await open()
  await option('Home').waitFor()
  t.equal(await recent.count(), 0, 'nor what another user chose')
  await page.keyboard.press('Escape')
})

await t.test('the shortcut leaves a dialog that asks something', async (t) => {
  await page.goto(`${service.url}/studio/keys/${key.id}`)
  // What the shortcut opens is there at once from now on.
  await open()
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Revoke…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).waitFor()
  await page.keyboard.press('Control+k')
  t.equal(await page.getByRole('dialog').count(), 1)
  t.equal(await field.count(), 0)
})

await t.test('no error, no breach of the policy, no request elsewhere', (t) => {
  // The id of one kind is looked up in another, and no model is configured.
  const refused = /responded with a status of (404|501)/
  t.strictSame(
    faults.filter((fault) => !refused.test(fault)),
    [],
  )
  t.end()
})

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Route } from 'playwright-core'
import t from 'tap'
import { openChromium } from './chromium.ts'
import type { Body } from './service.ts'
import { startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { LANGUAGES, receiversOf } from './studio/receiver-pages.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

const CANARY = '<script>document.title="pwned"</script><img src=x onerror=alert(1)>'

/** The page with receiver code, and no file of it. */
const RECEIVER_PAGE = /\/studio\/webhooks\/[^/]+\/receiver/

/** What the receiver responds. */
let response = { status: 503, body: 'not now' }
const receiver = createServer((request, answer) => {
  request.resume()
  answer.writeHead(response.status, { 'content-type': 'text/html' }).end(response.body)
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
t.teardown(() => receiver.close())
const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`

const service = await startService(t, {
  KEYHOOK_WEBHOOK_ALLOW: host,
  KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '0',
  KEYHOOK_WEBHOOK_DISABLE_FAILURES: '4',
  KEYHOOK_WEBHOOK_DISABLE_HOURS: '0',
})
const browser = await openChromium(t)
const visitor = await openVisitor(t, browser, service)
const { page, faults } = visitor
const main = page.getByRole('main')

const publish = (data: Body): Promise<Body> =>
  service.ask('POST', '/v1/events', { type: 'order.paid', data })

/** The page of the webhook. */
let address = ''

await t.test('a webhook is added, and tested in the same place', async (t) => {
  await service.ask('PUT', '/v1/event-types/order.paid', { description: 'An order was paid.' })
  await signIn(visitor, service)
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Webhooks' })
    .click()
  await page.getByText('A webhook sends events to an address of yours').waitFor()
  await lookAt(t, page, 'webhooks-empty')
  await main.getByRole('link', { name: 'Add webhook' }).first().click()
  await page.getByRole('textbox', { name: 'Address' }).fill('https://10.0.0.1/in')
  await page.getByRole('textbox', { name: 'Description' }).fill(`Shop ${CANARY}`)
  await page.getByRole('checkbox', { name: 'order.paid' }).check()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('alert').getByText('url_not_public').waitFor()
  await page.getByText('Apps, headers of your own, limits').click()
  await page.getByRole('button', { name: 'Add a header' }).click()
  const header = page.getByRole('group', { name: 'Header 1' })
  await header.getByLabel('Name').fill('X-Receiver')
  await header.getByLabel('Value').fill('shop')
  await lookAt(t, page, 'webhook-new')
  await page.getByRole('textbox', { name: 'Address' }).fill(`http://${host}/in`)
  const sent = once(receiver, 'request') as Promise<[IncomingMessage]>
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('heading', { name: 'Copy the signing secret now' }).waitFor()
  await page.getByText('The receiver responded 503').first().waitFor()
  t.match((await sent)[0].headers, { 'x-receiver': 'shop' })
  await page.getByLabel('Request body').getByText('webhook.test').waitFor()
  await page
    .getByRole('region', { name: 'Response to the test' })
    .getByText('503')
    .first()
    .waitFor()
  t.match(await theWebhook(), { status: 'disabled', disabled_reason: 'manual' })
  const secret = await page.getByLabel('signing secret', { exact: true }).textContent()
  t.match(secret, /^whsec_/)
  t.match(await page.getByLabel('node.mjs', { exact: true }).textContent(), 'WEBHOOK_SECRETS')
  const code = await page.getByRole('figure').allTextContents()
  t.notMatch(code.join('\n'), String(secret), 'no code holds the secret')
  await lookAt(t, page, 'webhook-created')

  // What the test has shown is changed in place, and leaving asks what becomes of the webhook.
  const dialog = page.getByRole('dialog', { name: 'Keep the webhook?' })
  await page.getByRole('link', { name: 'Events' }).first().click()
  await dialog.getByText('neither copied nor downloaded').waitFor()
  await lookAt(t, page, 'webhook-leave')
  await dialog.getByRole('button', { name: 'Stay here' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill(`Shop ${CANARY}!`)
  response = { status: 204, body: '' }
  await page.getByRole('button', { name: 'Send another test' }).click()
  await page.getByText('Delivered').first().waitFor()
  t.match(await theWebhook(), { status: 'disabled', description: `Shop ${CANARY}!` })
  t.equal(await page.getByLabel('signing secret', { exact: true }).textContent(), secret)
  await page.getByRole('textbox', { name: 'Description' }).fill(`Shop ${CANARY}`)
  response = { status: 503, body: 'not now' }
  await page.getByRole('button', { name: 'Start sending' }).click()
  await page.getByRole('heading', { name: 'Events are sent from now on' }).waitFor()
  t.match(await theWebhook(), { status: 'active', description: `Shop ${CANARY}` })
  await lookAt(t, page, 'webhook-started')
  await page.getByRole('link', { name: 'Show the webhook’s page' }).click()
  const warning = page.getByRole('dialog', { name: 'Leave without the secret?' })
  await warning.getByRole('button', { name: 'Stay here' }).click()
  await page.getByRole('button', { name: 'Copy signing secret' }).click()
  t.equal(await page.evaluate('navigator.clipboard.readText()'), secret)
  await page.getByRole('link', { name: 'Show the webhook’s page' }).click()
  await page.getByRole('heading', { name: `Shop ${CANARY}` }).waitFor()
  address = page.url()
})

/** The newest webhook, as the service has it. */
async function theWebhook(): Promise<Body | undefined> {
  return (await service.ask<{ data: readonly Body[] }>('GET', '/v1/webhooks')).data[0]
}

await t.test('a webhook that did not work is deleted by leaving it', async (t) => {
  await page.goto(`${service.url}/studio/webhooks/new`)
  await page.getByRole('textbox', { name: 'Address' }).fill(`http://${host}/gone`)
  await page.getByRole('checkbox', { name: 'order.paid' }).check()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText('The receiver responded 503').first().waitFor()
  t.match(await theWebhook(), { url: `http://${host}/gone` })
  await page.getByRole('link', { name: 'Webhooks' }).last().click()
  await page
    .getByRole('dialog', { name: 'Keep the webhook?' })
    .getByRole('button', { name: 'Delete webhook' })
    .click()
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
  t.match(await theWebhook(), { url: `http://${host}/in` })
  await page.goto(address)
})

await t.test('receiver code in seven languages is that of the docs', async (t) => {
  const tabs = page.getByRole('navigation', { name: 'Webhook', exact: true })
  await tabs.getByRole('link', { name: 'Receiver code' }).click()
  t.equal(
    await page.getByLabel('Environment', { exact: true }).textContent(),
    "export WEBHOOK_SECRETS='whsec_…'",
  )
  for (const [name, file] of LANGUAGES) {
    await page.getByRole('link', { name, exact: true }).click()
    await page.waitForURL(new RegExp(`language=${file}`))
    const receivers = receiversOf(file)
    for (const [index, files] of receivers.entries()) {
      if (receivers.length > 1) await page.getByLabel('Framework').selectOption({ index })
      for (const { name: path, text } of files) {
        const shown = await page.getByLabel(path, { exact: true }).textContent()
        t.equal(`${shown}\n`, text, `${name}: ${path}`)
      }
    }
  }
  await page.getByRole('link', { name: 'Go', exact: true }).click()
  await page.getByRole('button', { name: 'Copy verify.go' }).click()
  await page.getByRole('button', { name: 'Copied verify.go' }).waitFor()
  t.match(await page.evaluate('navigator.clipboard.readText()'), 'func verify(secrets []string')
})

await t.test('settings are changed, and stay as typed when they are refused', async (t) => {
  await page.goto(address)
  const tabs = page.getByRole('navigation', { name: 'Webhook', exact: true })
  await tabs.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('textbox', { name: 'Address' }).fill('https://10.0.0.1/in')
  await page.getByText('Where events are sent, and which, is changed with your password').waitFor()
  await page.getByText('Another host gets none of these headers').waitFor()
  await page.getByLabel('Deliveries per second').fill('50')
  await page.getByLabel('Deliveries at once').fill('2')
  await page.getByRole('radio', { name: 'Only events of these apps' }).check()
  await page.getByText('Name at least one app.').waitFor()
  await page.getByRole('combobox', { name: 'App ids' }).fill('app_one')
  await page.getByRole('combobox', { name: 'App ids' }).press('Enter')
  await page.getByRole('button', { name: 'Remove app_one' }).waitFor()
  await page.getByRole('button', { name: 'Save settings' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('url_not_public').waitFor()
  await alert.getByText('request', { exact: false }).first().waitFor()
  await lookAt(t, page, 'webhook-settings-refused')
  await page.getByRole('textbox', { name: 'Address' }).fill(`http://${host}/in`)
  await page.getByRole('radio', { name: 'Events of every app' }).check()
  await page.getByRole('button', { name: 'Replace headers' }).click()
  const first = page.getByRole('group', { name: 'Header 1' })
  t.equal(await first.getByLabel('Name').inputValue(), 'X-Receiver')
  t.equal(await first.getByLabel('Value').inputValue(), '', 'a stored value is not shown')
  await first.getByLabel('Value').fill('store')
  await page.getByRole('button', { name: 'Add a header' }).click()
  const second = page.getByRole('group', { name: 'Header 2' })
  await second.getByLabel('Name').fill('x-receiver')
  await page.getByText('This name is above already.').waitFor()
  t.ok(await page.getByRole('button', { name: 'Save settings' }).isDisabled())
  await second.getByLabel('Name').fill('X-Zone')
  await second.getByLabel('Value').fill('eu')
  await page.getByRole('combobox', { name: 'Families' }).fill('order.*')
  await page.getByRole('combobox', { name: 'Families' }).press('Enter')
  await page.getByRole('checkbox', { name: 'The trace of the event' }).check()
  await lookAt(t, page, 'webhook-settings')

  await page.getByRole('link', { name: 'Events' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
  await dialog.getByRole('button', { name: 'Stay here' }).click()
  // Somebody else changes what this form leaves alone.
  const { id } = (await theWebhook()) ?? {}
  await service.ask('PATCH', `/v1/webhooks/${String(id)}`, { description: 'By another' })
  await page.getByRole('button', { name: 'Save settings' }).click()
  await page.getByText('Saved.').waitFor()
  t.match(await theWebhook(), {
    url: `http://${host}/in`,
    events: ['order.paid', 'order.*'],
    apps: null,
    header_names: ['X-Receiver', 'X-Zone'],
    rate_limit: 50,
    concurrency: 2,
    trace_headers: true,
    standard_headers: false,
    description: 'By another',
  })
  await page.getByRole('textbox', { name: 'Description' }).fill(`Shop ${CANARY}`)
  for (const name of ['Deliveries per second', 'Deliveries at once']) {
    await page.getByLabel(name).fill('')
  }
  await page.getByRole('button', { name: 'Remove order.*' }).click()
  await page.getByRole('button', { name: 'Save settings' }).click()
  await page.getByText('Saved.').waitFor()
  t.match(await theWebhook(), {
    events: ['order.paid'],
    rate_limit: null,
    concurrency: null,
    description: `Shop ${CANARY}`,
  })
  await tabs.getByRole('link', { name: 'Receiver code' }).click()
  await page.getByRole('link', { name: 'Go', exact: true }).click()
})

await t.test('a library of Standard Webhooks gets its headers with one click', async (t) => {
  await page.getByLabel('Framework').selectOption('gin')
  await page.waitForURL(/framework=gin/)
  await page.getByText('which this webhook does not send yet').waitFor()
  await lookAt(t, page, 'webhook-receiver')
  await page.getByRole('button', { name: 'Send the headers too' }).click()
  await page.getByText('This webhook sends the headers of Standard Webhooks').waitFor()
  await page.reload()
  await page.getByText('This webhook sends the headers of Standard Webhooks').waitFor()
  t.equal(await page.getByLabel('Framework').inputValue(), 'gin', 'the address is the choice')
})

await t.test('receiver code names the header of the brand', async (t) => {
  await page.route(RECEIVER_PAGE, asShop)
  await page.goto(`${address}/receiver`)
  await page.getByRole('link', { name: 'Webhooks' }).first().waitFor()
  for (const [name, file] of LANGUAGES) {
    await page.getByRole('link', { name, exact: true }).click()
    const first = receiversOf(file)[0]?.at(-1)?.name ?? ''
    const text = await page.getByLabel(first, { exact: true }).textContent()
    t.match(text, /shop[-_]signature/i, `${name}: ${first}`)
    const all = await page.getByRole('main').textContent()
    t.notMatch(all, /service[-_]signature/i, name)
  }
  await page.unroute(RECEIVER_PAGE)
  await page.goto(address)
})

/** The page of a service of another brand. */
async function asShop(route: Route): Promise<void> {
  const real = await route.fetch()
  const body = (await real.text()).replace('content="Service"', 'content="Shop"')
  await route.fulfill({ response: real, body })
}

await t.test('a page says why deliveries fail, and which', async (t) => {
  await publish({ order_id: CANARY })
  await publish({ order_id: 'second' })
  // Each has a retry; the fourth failure disables the webhook.
  await page.getByText('It was disabled because too many attempts').waitFor({ timeout: 30_000 })
  await page.getByText('The receiver responded 503', { exact: false }).first().waitFor()
  await page.getByLabel('Outcome').selectOption('Failed')
  await page.getByLabel('Event type').fill('order.paid')
  await page.getByLabel('Event type').press('Enter')
  await page.waitForURL(/status=exhausted/)
  await page.waitForURL(/type=order\.paid/)
  await page.getByText('2 in all').waitFor()
  t.equal(await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').count(), 2)
  await lookAt(t, page, 'webhook-disabled')
  await page.reload()
  await page.getByRole('table', { name: 'Deliveries' }).waitFor()
  t.equal(await page.getByLabel('Outcome').inputValue(), 'exhausted', 'the address is the search')
  await page.getByLabel('Event type').fill('order.none')
  await page.getByLabel('Event type').press('Enter')
  await page.getByText('No delivery matches these filters.').waitFor()
})

await t.test('one delivery: the cause first, then attempts, request and response', async (t) => {
  await page.route('**/v1/webhooks/*/deliveries/*', withBody)
  await page.goto(`${address}?status=exhausted&type=order.paid`)
  await page.getByText('2 in all').waitFor()
  const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('link').last()
  await row.click()
  await page.getByRole('list', { name: 'Attempts' }).waitFor()
  await page
    .getByText('The receiver responded 503, and only 200 to 299 is a success.')
    .first()
    .waitFor()
  t.equal(await page.getByRole('list', { name: 'Attempts' }).getByRole('listitem').count(), 2)
  const shown = page.getByLabel('Response body of attempt 1')
  t.equal(await shown.textContent(), CANARY, 'as text')
  t.match(await page.getByLabel('Request body').textContent(), 'order_id')
  t.equal(await page.locator('main img, main script').count(), 0)
  await lookAt(t, page, 'delivery')
  await page.unroute('**/v1/webhooks/*/deliveries/*')
  await page.getByRole('link', { name: /^evt_/ }).click()
  await page.getByRole('heading', { name: 'order.paid' }).waitFor()
  await page.getByRole('table', { name: 'Webhooks' }).waitFor()
  await lookAt(t, page, 'event')
})

/** Bodies of a private receiver's responses are not kept, and every receiver of a test is private. */
async function withBody(route: Route): Promise<void> {
  const real = await route.fetch()
  const delivery = (await real.json()) as { attempts: { response: object | null }[] }
  const attempts = delivery.attempts.map((attempt) => ({
    ...attempt,
    response: { ...attempt.response, body: CANARY },
  }))
  await route.fulfill({ response: real, json: { ...delivery, attempts } })
}

await t.test('the receiver is back: test, enable, and resend what failed', async (t) => {
  response = { status: 200, body: 'ok' }
  await page.goto(address)
  await page.getByRole('button', { name: 'Enable…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Send test' }).click()
  await dialog.getByText('Delivered').first().waitFor()
  await lookAt(t, page, 'webhook-enable')
  await dialog.getByRole('button', { name: 'Enable webhook' }).click()
  await dialog.getByRole('button', { name: 'Resend 3 deliveries' }).waitFor()
  await lookAt(t, page, 'webhook-retry')
  await dialog.getByRole('button', { name: 'Resend 3 deliveries' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('It delivers.').waitFor({ timeout: 20_000 })
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').first().click()
  await page.getByText('It was delivered.').first().waitFor()
  await page.getByRole('button', { name: 'Resend delivery' }).click()
  await page.getByText('resent by hand').first().waitFor()
  await page.goto(`${service.url}/studio/webhooks`)
  await page.getByText('Active').waitFor()
  await lookAt(t, page, 'webhooks')
})

await t.test('the secret is rotated, and the page shows the overlap', async (t) => {
  await page.goto(address)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Rotate secret…' }).click()
  t.equal(await dialog.getByLabel('The old secret also signs for').inputValue(), '86400')
  // What is under way shows its value, whoever wants to leave.
  await page.route('**/rotate-secret', async (route) => {
    await page.keyboard.press('Escape')
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Rotate secret' }).click()
  const shown = dialog.getByRole('heading', { name: 'Copy the signing secret now' })
  await shown.waitFor()
  await page.unroute('**/rotate-secret')
  await page.keyboard.press('Escape')
  await dialog.getByText('The previous secret also signs until').waitFor()
  await lookAt(t, page, 'webhook-rotated')
  t.ok(await shown.isVisible(), 'nor does Escape hide it')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
  await main.getByText('Rotating').waitFor()
  await main.getByText('The previous secret also signs until').waitFor()
  t.equal(await signaturesOfTest(), 2, 'either secret verifies a delivery')

  await page.getByRole('button', { name: 'Rotate secret…' }).click()
  await dialog.getByText('The previous secret also signs until').waitFor()
  await dialog.getByLabel('The old secret also signs for').selectOption({ index: 0 })
  await dialog.getByText('Every delivery fails until the receiver has the new secret').waitFor()
  await lookAt(t, page, 'webhook-rotate')
  await dialog.getByRole('button', { name: 'Rotate secret' }).click()
  await dialog.getByText('The old secret signs nothing any more.').waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await main.getByText('Rotating').waitFor({ state: 'detached' })
  t.equal(await signaturesOfTest(), 1)
})

/** How many secrets sign a test. */
async function signaturesOfTest(): Promise<number | undefined> {
  const sent = once(receiver, 'request') as Promise<[IncomingMessage]>
  await main.getByRole('button', { name: /^Send (another )?test$/ }).click()
  const [{ headers }] = await sent
  return String(headers['service-signature']).match(/v1=/g)?.length
}

await t.test('no error, no breach of the policy, no request elsewhere', (t) => {
  const refused = /responded with a status of 400/
  t.strictSame(
    faults.filter((fault) => !refused.test(fault)),
    [],
  )
  t.end()
})

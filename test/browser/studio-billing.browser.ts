/** Credit and the plan are paid for in Chromium, on the pages of a fake of Stripe. */
import t from 'tap'
import { API_VERSION } from '../../plugins/billing/stripe/client.ts'
import { FAKE_CARD, FAKE_KEY, FAKE_PRICE, FAKE_SECRET } from '../fake-stripe/names.ts'
import { startFakeStripe } from '../fake-stripe/server.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { openChromium } from './chromium.ts'
import { openDatabase } from './database.ts'
import { OWNER } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

const port = await freePort()
const webhook = `http://127.0.0.1:${port}/hooks/billing/stripe`
const stripe = await startFakeStripe({ version: API_VERSION, webhook })
t.teardown(() => stripe.close())

// Without a key: those of others are made on the plan Pro, which is bought here.
const database = await openDatabase(t)
const service = await startDaemonProcess({
  ...database.env,
  KEYHOOK_OWNER_EMAIL: OWNER.email,
  KEYHOOK_OWNER_PASSWORD: OWNER.password,
  KEYHOOK_PORT: String(port),
  KEYHOOK_BILLING: 'stripe',
  KEYHOOK_STRIPE_BASE_URL: stripe.url,
  KEYHOOK_STRIPE_API_KEY: FAKE_KEY,
  KEYHOOK_STRIPE_WEBHOOK_SECRET: FAKE_SECRET,
  KEYHOOK_STRIPE_PRICE_PRO: FAKE_PRICE,
})
t.teardown(() => service.end('SIGTERM'))
const browser = await openChromium(t)
const visitor = await openVisitor(t, browser, service)
const { page, context, faults } = visitor

async function wallet(): Promise<unknown> {
  return (await context.request.get(`${service.url}/v1/billing/wallet`)).json()
}

const facts = page.locator('dl.facts')
const pay = () => page.getByRole('button', { name: `Pay with the fake card ${FAKE_CARD}` }).click()
/** It stands until the person leaves; the numbers follow by themselves. */
const returnNote = page.getByText('A payment shows here a few seconds after')

await t.test('credit is bought on the processor’s page, and shows after the return', async (t) => {
  await signIn(visitor, service)
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Billing' })
    .click()
  await page.getByText('USD 0.00 can be spent').waitFor()
  const amount = page.getByLabel('Amount in USD')
  await page.getByText(/^From [\d.]+ to [\d,.]+\.$/).waitFor()
  await lookAt(t, page, 'billing-payment')
  await amount.fill('1.00')
  await page.getByRole('button', { name: 'Buy credit' }).click()
  await page.getByText('amount_out_of_range').waitFor()
  t.equal(await amount.inputValue(), '1.00', 'what was typed is kept')
  await amount.fill('10.00')
  await page.getByRole('button', { name: 'Buy credit' }).click()
  await pay()
  await page.waitForURL(`${service.url}/studio/billing?from=payment`)
  await returnNote.waitFor()
  await facts.getByText('USD 10.00', { exact: true }).waitFor()
  t.match(await wallet(), { balance: '10.00' })
})

await t.test('who leaves the processor’s page has paid nothing', async (t) => {
  await page.getByLabel('Amount in USD').fill('20.00')
  await page.getByRole('button', { name: 'Buy credit' }).click()
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.waitForURL(`${service.url}/studio/billing?from=payment`)
  await facts.getByText('USD 10.00', { exact: true }).waitFor()
  t.match(await wallet(), { balance: '10.00' })
})

await t.test('Pro is subscribed, its invoice is listed, and it ends when asked to', async (t) => {
  await page.getByText(/^Pro costs USD 25\.00 a month\./).waitFor()
  await page.getByRole('button', { name: 'Subscribe to Pro' }).click()
  await pay()
  await page.waitForURL(`${service.url}/studio/billing?from=payment`)
  await page.getByText(/^Pro renews on /).waitFor()
  await facts.getByText('pro', { exact: true }).waitFor()
  await lookAt(t, page, 'billing-subscribed')
  await page.setViewportSize({ width: 1440, height: 900 })
  await facts.getByRole('link', { name: 'Show invoices' }).click()
  const invoices = page.getByRole('table', { name: 'Invoices' })
  await invoices.getByText('Paid', { exact: true }).waitFor()
  await invoices.getByText('USD 25.00').waitFor()
  await lookAt(t, page, 'invoices')
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goBack()
  await page.getByRole('button', { name: 'End subscription' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/^Pro stays until /).waitFor()
  await dialog.getByRole('button', { name: 'End subscription' }).click()
  await page.getByText(/^Pro ends on /).waitFor()
  t.match(await wallet(), { plan: 'pro' })
})

await t.test('the payment method and the processor’s own page are one click away', async (t) => {
  await page.getByRole('button', { name: 'Change payment method' }).click()
  await page.getByText('A payment method').waitFor()
  await pay()
  await page.waitForURL(`${service.url}/studio/billing?from=payment`)
  await page.getByRole('button', { name: 'Open the payment processor’s page' }).click()
  await page.getByRole('heading', { name: 'Fake Stripe: no money moves' }).waitFor()
  // Chromium notes the refused amount by itself.
  const expected = [
    `elsewhere: ${stripe.url}`,
    'error: Failed to load resource: the server responded with a status of 400',
  ]
  const ours = faults.filter((fault) => !expected.some((start) => fault.startsWith(start)))
  t.strictSame(ours, [], 'no other origin is asked, and nothing fails')
})

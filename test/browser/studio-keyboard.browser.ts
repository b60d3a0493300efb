import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import t from 'tap'
import { openChromium } from './chromium.ts'
import { OWNER, startService } from './service.ts'
import { openVisitor } from './studio/visitor.ts'

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
const { page } = await openVisitor(t, browser, service)

const MOST_STOPS = 100

/** Name, and whether the focus can be seen, of what has it. */
const FOCUSED = `(() => {
  const one = document.activeElement
  // After the last element the browser's own controls have the focus.
  if (one === document.body) return { name: '', seen: true }
  const name = one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent
  const { outlineStyle, borderColor } = getComputedStyle(one)
  const after = getComputedStyle(one, '::after').outlineStyle
  return { name: name.trim(), seen: [outlineStyle, after].some((style) => style !== 'none') || one.matches('input, select') }
})()`

/** Presses Tab until an element of that name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<{ readonly name: string; readonly seen: boolean }>(FOCUSED)
    if (!focused.seen) throw new Error(`the focus of ${focused.name} cannot be seen`)
    if (focused.name === name) return
  }
  throw new Error(`${name} is not reached by Tab`)
}

async function press(name: string, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press(key)
}

async function type(name: string, text: string): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.type(text)
}

await t.test(
  'with the keyboard alone: create a key, add a webhook, test it, publish an app',
  async (t) => {
    await page.goto(`${service.url}/studio`)
    await page.getByRole('heading', { name: 'Sign in to Service' }).waitFor()
    await type('Email address', OWNER.email)
    await type('Password', OWNER.password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await press('Create a key')
    await page.getByRole('heading', { name: 'New key' }).waitFor()
    await type('Name', 'by keyboard')
    await press('events:write', 'Space')
    await press('Create key')
    await page.getByRole('heading', { name: 'Copy the key now' }).waitFor()
    await press('Webhooks')
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await press('Add webhook')
    await page.getByRole('heading', { name: 'New webhook' }).waitFor()
    await type('Address', `http://${host}/in`)
    await press('Every built-in type, also later ones', 'Space')
    await press('Send a test')
    await page.getByRole('heading', { name: 'Copy the signing secret now' }).waitFor()
    await page.getByText('Delivered').first().waitFor()
    await press('Start sending')
    await page.getByRole('heading', { name: 'Events are sent from now on' }).waitFor()
    await press('Copy signing secret')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    await press('Show the webhook’s page')
    await page.getByText('It delivers.').waitFor()
    await tabTo(page, 'Receiver code')
    await press('Settings')
    await type('Deliveries at once', '3')
    await press('Save settings')
    await page.getByText('Saved.').waitFor()
    const { data } = await service.ask<{ data: readonly object[] }>('GET', '/v1/keys')
    t.match(data[0], { name: 'by keyboard', scopes: ['events:write'] })
    await press('Apps')
    await page.getByRole('heading', { name: 'Apps' }).waitFor()
    await press('Create app')
    await page.getByRole('heading', { name: 'New app' }).waitFor()
    await press('Create app')
    await page.getByText('Not published').waitFor()
    await press('Publish…')
    await page.getByRole('heading', { name: 'Not published' }).waitFor()
    await press('Publish revision 1')
    await page.getByRole('heading', { name: 'Release 1 is live' }).waitFor()
  },
)

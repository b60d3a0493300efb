import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { BrowserContext } from 'playwright-core'
import t from 'tap'
import { openChromium } from './chromium.ts'
import { startService } from './service.ts'
import { freePort } from '../support/free-port.ts'

/** Everything of the test lies below one registrable domain, as cookies see it. */
const SITE = 'keyhook.localhost'

const port = String(await freePort())
const service = await startService(t, {
  KEYHOOK_PORT: port,
  KEYHOOK_BASE_URL: `http://${SITE}:${port}`,
  KEYHOOK_APPS_DOMAIN: `apps.${SITE}`,
})
const browser = await openChromium(t)

/** A server of somebody else, at a name next to those of the service. */
const neighbour = createServer((_, response) => response.end('a neighbour')).listen(0, '127.0.0.1')
await once(neighbour, 'listening')
t.teardown(() => void neighbour.close())

async function publish(alias?: string) {
  const app = await service.makeApp({ template_id: 'blank', ...(alias && { alias }) })
  await service.deploy(app, 'publish')
  return app
}

/** It has no alias: an alias leads nowhere once its app is archived. */
const going = await publish()
const siblings = [await publish('sibling'), await publish('other-sibling')]
const others = [
  ...siblings.map(({ production_url }) => production_url),
  `http://www.${SITE}:${(neighbour.address() as AddressInfo).port}/`,
  `${service.url}/docs`,
]

/** Each host has a cookie of its own, and the site one for all of them. */
async function keepCookies(context: BrowserContext): Promise<void> {
  for (const address of [...others, going.production_url]) {
    const page = await context.newPage()
    await page.goto(address)
    await page.evaluate(`document.cookie = 'own=1'; localStorage.setItem('own', '1')`)
    await page.evaluate(`document.cookie = 'shared=1; domain=${SITE}'`)
    await page.close()
  }
}

const cookiesOf = async (context: BrowserContext): Promise<readonly string[]> =>
  (await context.cookies()).map(({ name, domain }) => `${name} of ${domain}`).toSorted()

async function visit(context: BrowserContext, address: string): Promise<number | undefined> {
  const page = await context.newPage()
  const response = await page.goto(address)
  await page.close()
  return response?.status()
}

const STATES = [
  ['unpublished', 'POST', `/v1/apps/${going.id}/deploy/unpublish`, 404],
  ['archived', 'DELETE', `/v1/apps/${going.id}`, 410],
] as const

const context = await browser.newContext()
t.teardown(() => context.close())
await keepCookies(context)
const before = await cookiesOf(context)
t.equal(before.length, others.length + 2, 'every host has its cookie, and the site has one')

for (const [state, method, path, status] of STATES) {
  await t.test(`a visit to an app that is ${state} leaves all cookies`, async (t) => {
    await service.ask(method, path, method === 'POST' ? {} : undefined)
    t.equal(await visit(context, going.production_url), status)
    t.strictSame(await cookiesOf(context), before)
  })
}

await t.test(
  'the storage of the archived app is cleared, and no storage of another host',
  async (t) => {
    const stored = async (address: string): Promise<unknown> => {
      const page = await context.newPage()
      await page.goto(address)
      const value = await page.evaluate(`localStorage.getItem('own')`)
      await page.close()
      return value
    }
    t.equal(await stored(going.production_url), null)
    for (const address of others) t.equal(await stored(address), '1', address)
  },
)

import type { Page } from 'playwright-core'
import t from 'tap'
import { until } from '../support/daemon.ts'
import { openChromium } from './chromium.ts'
import type { App, Body } from './service.ts'
import { startService } from './service.ts'

const service = await startService(t)
const browser = await openChromium(t)

const csp = (policy: string): string =>
  `<meta http-equiv="Content-Security-Policy" content="${policy}">`

/** Its script fails at once, before the page is read to its end. */
const FAILING = '<script src="/fails.js"></script>'

const PAGES: Readonly<Record<string, string>> = {
  'index.html': `<!doctype html><html><head><title>A</title>${FAILING}</head><body><h1>Index`,
  'bare.html': `<!doctype html><h1>Bare</h1>${FAILING}`,
  'allowed.html': `<!doctype html><head>${csp("default-src 'self'")}${FAILING}<h1>Allowed`,
  'based.html': `<!doctype html><head><base href="http://127.0.0.1:9/">${FAILING.replace('/fails', '{own}/fails')}`,
  'twice.html': `<!doctype html><head><title>T</title></head><body><script src="/_p/obs.js"></script>${FAILING}`,
  'forbidden.html': `<!doctype html><head>${csp("script-src 'none'")}<title>F</title>${FAILING}`,
  'nonce.html': `<!doctype html><head>${csp("script-src 'nonce-a'")}<script nonce="a">lost('nonce')</script>`,
}

async function publish(files: Readonly<Record<string, string>>, config: readonly Body[] = []) {
  const app = await service.makeApp({ template_id: 'blank' })
  const writes = Object.entries(files).map(([path, content]) => ({
    op: 'write',
    path,
    content: content.replace('{own}', app.production_url),
  }))
  await service.edit(app, ...writes, ...config)
  await service.deploy(app, 'publish')
  return app
}

const FILES = { ...PAGES, 'fails.js': 'lostOn(location.pathname)' }

async function errorsOf({ id }: App): Promise<readonly Body[]> {
  return (await service.ask<{ data: Body[] }>('GET', `/v1/apps/${id}/errors?limit=100`)).data
}

interface Visit {
  readonly page: Page
  /** Paths of the app's own that the page asked for. */
  readonly asked: readonly string[]
  /** What the page's own policy blocked. */
  readonly blocked: readonly string[]
}

async function visit(address: string): Promise<Visit> {
  const page = await browser.newPage()
  const asked: string[] = []
  const blocked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/_p/')) asked.push(pathname)
  })
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) blocked.push(message.text())
  })
  await page.goto(address, { waitUntil: 'load' })
  return { page, asked, blocked }
}

const app = await publish(FILES)

for (const path of ['', 'bare', 'allowed', 'based', 'twice']) {
  await t.test(`an error of a page is reported by itself: /${path}`, async (t) => {
    const { page, asked, blocked } = await visit(`${app.production_url}/${path}`)
    await until('it is sent', () => asked.includes('/_p/beacon'))
    t.equal(asked.filter((one) => one === '/_p/beacon').length, 1, 'once')
    t.strictSame(blocked, [])
    const isListed = async (): Promise<boolean> =>
      (await errorsOf(app)).some(({ sample }) => (sample as Body)['url'] === page.url())
    await until('it is listed', isListed)
    await page.close()
  })
}

for (const path of ['forbidden', 'nonce']) {
  await t.test(
    `a policy that forbids it is kept, and nothing is asked for: /${path}`,
    async (t) => {
      const { page, asked, blocked } = await visit(`${app.production_url}/${path}`)
      t.notOk(asked.includes('/_p/obs.js'))
      t.strictSame(
        blocked.filter((text) => text.includes('obs.js')),
        [],
      )
      await page.close()
    },
  )
}

await t.test('a preview reports too', async (t) => {
  const { page, asked } = await visit(app.preview_url)
  await until('it is sent', () => asked.includes('/_p/beacon'))
  await page.close()
  t.pass()
})

await t.test('an app whose owner opted out sends nothing', async (t) => {
  const off = await publish(FILES, [{ op: 'set_config', key: 'observe', value: 'off' }])
  for (const path of ['', 'bare', 'forbidden']) {
    const { page, asked } = await visit(`${off.production_url}/${path}`)
    // The script would be asked for before the page is loaded, and nothing else sends.
    t.strictSame(asked, [], path)
    await page.close()
  }
})

await t.test('a worker keeps pages with the beacon, and shows them offline', async (t) => {
  const worker = `addEventListener('install', (event) => event.waitUntil(
    caches.open('all').then((cache) => cache.addAll(['/', '/_p/obs.js'])).then(() => skipWaiting())))
  addEventListener('activate', (event) => event.waitUntil(clients.claim()))
  addEventListener('fetch', (event) => event.respondWith(
    caches.match(event.request).then((kept) => kept || fetch(event.request))))`
  const kept = await publish({
    'index.html': '<!doctype html><title>Kept</title>',
    'worker.js': worker,
  })
  const context = await browser.newContext()
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(kept.production_url)
  await page.evaluate(`navigator.serviceWorker.register('/worker.js')
    .then(() => navigator.serviceWorker.ready)`)
  await context.setOffline(true)
  await page.goto(kept.production_url)
  t.equal(await page.title(), 'Kept')
  t.equal(await page.evaluate(`document.scripts[0].getAttribute('src')`), '/_p/obs.js')
  t.equal(await page.evaluate('globalThis.__obs'), true, 'the beacon runs')
})

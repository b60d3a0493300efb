import t from 'tap'
import { until } from '../support/daemon.ts'
import { openChromium } from './chromium.ts'
import { startService } from './service.ts'

/** Shows what it has, and asks nobody. */
const WORKER = `addEventListener('install', (event) => event.waitUntil(
  caches.open('all').then((cache) => cache.add('/')).then(() => skipWaiting())))
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => event.respondWith(
  caches.match(event.request).then((kept) => kept || fetch(event.request))))`

const page = (title: string): string => `<!doctype html><title>${title}</title><h1>${title}</h1>`

const service = await startService(t)
const browser = await openChromium(t)

async function publish(files: Readonly<Record<string, string>>) {
  const app = await service.makeApp({ template_id: 'blank' })
  const writes = Object.entries(files).map(([path, content]) => ({ op: 'write', path, content }))
  await service.edit(app, ...writes)
  await service.deploy(app, 'publish')
  return app
}

/** A visitor whose browser has a worker of the app, and shows its page without asking. */
async function visit(address: string) {
  const context = await browser.newContext()
  const visitor = await context.newPage()
  const title = async (): Promise<string> => {
    await visitor.goto(address)
    return visitor.title()
  }
  await visitor.goto(address)
  await visitor.evaluate(`localStorage.setItem('mine', '1')`)
  await visitor.evaluate(`navigator.serviceWorker.register('/worker.js')
    .then(() => navigator.serviceWorker.ready)`)
  const isOnItsOwn = (): Promise<boolean> =>
    visitor.evaluate(`navigator.serviceWorker.getRegistration().then((one) => one === undefined)`)
  return { visitor, title, isOnItsOwn, close: () => context.close() }
}

await t.test('an app that is taken off is seen by nobody for long', async (t) => {
  const app = await publish({ 'index.html': page('Here'), 'worker.js': WORKER })
  const { visitor, title, isOnItsOwn, close } = await visit(app.production_url)
  t.teardown(close)
  await service.ask('POST', `/v1/apps/${app.id}/deploy/unpublish`, {})
  t.equal(await title(), 'Here', 'its worker asks nobody')
  await until('its worker is ended', isOnItsOwn)
  t.equal(await title(), 'Not published')
  t.equal(await visitor.evaluate(`localStorage.getItem('mine')`), '1', 'it may come back')
  await service.ask('DELETE', `/v1/apps/${app.id}`)
  t.equal(await title(), 'No longer here')
  t.equal(await visitor.evaluate(`localStorage.getItem('mine')`), null, 'it has gone')
})

await t.test('a release without a worker takes the place of one that has it', async (t) => {
  const app = await publish({ 'index.html': page('First') })
  await service.edit(app, { op: 'write', path: 'worker.js', content: WORKER })
  await service.edit(app, { op: 'write', path: 'index.html', content: page('Second') })
  await service.deploy(app, 'publish')
  const { title, isOnItsOwn, close } = await visit(app.production_url)
  t.teardown(close)
  await service.deploy(app, 'rollback')
  t.equal(await title(), 'Second')
  await until('the worker is ended', isOnItsOwn)
  t.equal(await title(), 'First')
})

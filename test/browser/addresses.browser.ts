import t from 'tap'
import { openChromium } from './chromium.ts'
import { startService } from './service.ts'

const service = await startService(t)
const browser = await openChromium(t)
const page = await browser.newPage()

/** Of what an address leads a person to. */
async function look(address: string) {
  const response = await page.goto(address)
  const heading = await page.locator('h1').textContent()
  return { status: response?.status(), heading, headers: response?.headers() ?? {} }
}

/** What a script of the page at hand is answered. */
const fetched = (path: string): Promise<number> =>
  page.evaluate(`fetch('${path}').then(({ status }) => status)`)

const app = await service.makeApp({ template_id: 'blank', alias: 'shop' })
await service.deploy(app, 'publish')
const shop = app.production_url

await t.test('what an app does not have is not found, in words for its visitor', async (t) => {
  t.match(await look(`${shop}/nothing`), { status: 404, heading: 'Page not found' })
  t.match(await look(`${shop}/nothing/below.html`), { status: 404, heading: 'Page not found' })
  const [, port] = new URL(shop).host.split(':')
  const nobody = await page.goto(`http://nobody.localhost:${port}/`)
  t.equal(nobody?.status(), 404)
  t.match(await nobody?.text(), /nothing at this address/)
})

await t.test('an app may have a page of its own for that', async (t) => {
  const content = '<!doctype html><title>Lost</title><h1>We have moved</h1>'
  await service.edit(app, { op: 'write', path: '404.html', content })
  await service.deploy(app, 'publish')
  t.match(await look(`${shop}/nothing`), { status: 404, heading: 'We have moved' })
})

await t.test('the paths of an app that routes by itself are its own', async (t) => {
  const content =
    "document.querySelector('h1').textContent = `At ${location.pathname}`\n" +
    "addEventListener('click', () => history.pushState(null, '', '/orders/7'))\n"
  await service.edit(
    app,
    { op: 'set_config', key: 'spa_fallback', value: 'true' },
    { op: 'write', path: 'app.js', content },
  )
  await service.deploy(app, 'publish')
  t.match(await look(`${shop}/`), { status: 200, heading: 'At /' })
  await page.locator('h1').click()
  t.equal(page.url(), `${shop}/orders/7`)
  t.match(await look(`${shop}/orders`), { status: 200, heading: 'At /orders' })
  t.equal(await fetched('/orders'), 404, 'what a script asks for is no page')
  t.match(await look(`${shop}/orders.html`), { status: 404, heading: 'We have moved' })
})

await t.test('a preview is for nobody to find or keep', async (t) => {
  const published = await look(`${shop}/`)
  const preview = await look(`${app.preview_url}/`)
  t.match(preview, { status: 200, heading: 'At /' })
  t.match(preview.headers, {
    'x-robots-tag': 'noindex, nofollow',
    'cache-control': 'private, no-store',
  })
  t.equal(published.headers['x-robots-tag'], undefined)
  t.match(new URL(app.preview_url).hostname, /^preview--[a-z0-9]{20,}\.localhost$/)
})

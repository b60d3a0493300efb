import t from 'tap'
import { openChromium } from './chromium.ts'
import { OWNER, startService } from './service.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

/** What a hostile page tries from its frame in Studio; each answers what it got, or that it was refused. */
const HOSTILE = `<!doctype html><title>Hostile</title><pre id="report"></pre><script>
const say = (name, got) => {
  document.querySelector('#report').append(name + ': ' + got + '\\n')
}
const attempt = (name, act) => {
  try { say(name, act()) } catch { say(name, 'refused') }
}
attempt('document', () => parent.document.title)
attempt('address', () => parent.location.href)
attempt('navigation', () => { top.location = 'https://example.com/'; return 'begun' })
attempt('storage', () => parent.localStorage.length)
attempt('cookie', () => document.cookie === '' ? 'refused' : document.cookie)
attempt('dialog', () => { alert('Your password, please'); return 'refused' })
say('referrer', document.referrer === '' ? 'refused' : document.referrer)
for (const mode of ['cors', 'no-cors']) {
  fetch('SERVICE/v1/session', { credentials: 'include', mode })
    .then(async (answer) => say(mode, answer.type === 'opaque' ? 'refused' : await answer.text()))
    .catch(() => say(mode, 'refused'))
}
fetch('SERVICE/v1/keys', {
  method: 'POST',
  credentials: 'include',
  mode: 'no-cors',
  headers: { 'content-type': 'text/plain' },
  body: JSON.stringify({ name: 'stolen', scopes: ['*:*'] }),
}).finally(() => say('key', 'refused'))
</script>`

const OPERATOR = 'operator-token-of-the-tests-0123456789'
const service = await startService(t, { KEYHOOK_OPERATOR_TOKEN: OPERATOR })
const browser = await openChromium(t)

await t.test('a page of an app, shown in Studio, cannot reach the session', async (t) => {
  const visitor = await openVisitor(t, browser, service)
  const { page } = visitor
  const app = await service.makeApp({ template_id: 'blank', alias: 'hostile' })
  const content = HOSTILE.replaceAll('SERVICE', service.url)
  await service.edit(app, { op: 'write', path: 'index.html', content })
  await signIn(visitor, service)
  await page.goto(`${service.url}/studio/apps/${app.id}`)
  const report = page.frameLocator('iframe[title="Preview of the app"]').locator('#report')
  for (const name of ['cors', 'no-cors', 'key']) await report.getByText(`${name}: `).waitFor()
  const said = ((await report.textContent()) ?? '').trim().split('\n')
  t.equal(said.length, 10)
  t.strictSame(
    said.filter((line) => !line.endsWith(': refused')),
    [],
  )
  t.equal(new URL(page.url()).pathname, `/studio/apps/${app.id}`, 'the page is where it was')
  const { data } = await service.ask<{ data: readonly object[] }>('GET', '/v1/keys')
  t.equal(data.length, 1, 'no key was made')
})

await t.test('a preview without a first page says so', async (t) => {
  const visitor = await openVisitor(t, browser, service)
  const { page, faults } = visitor
  const app = await service.makeApp({ template_id: 'blank' })
  await service.edit(app, { op: 'delete', path: 'index.html' })
  await signIn(visitor, service)
  await page.goto(`${service.url}/studio/apps/${app.id}`)
  const shown = page.frameLocator('iframe[title="Preview of the app"]')
  await shown.getByRole('heading', { name: 'Page not found' }).waitFor()
  t.notOk(faults.some((fault) => fault.includes('frame-ancestors')))
})

await t.test('Studio frames previews and nothing else', async (t) => {
  const { page, faults } = await openVisitor(t, browser, service)
  await page.goto(`${service.url}/studio`)
  await page.evaluate(`new Promise((resolve) => {
    addEventListener('securitypolicyviolation', resolve, { once: true })
    const frame = document.createElement('iframe')
    frame.src = '${service.url}/docs'
    document.body.append(frame)
  })`)
  t.ok(
    faults.some((fault) => fault.startsWith('policy: frame-src')),
    'a page of the service itself',
  )
})

await t.test('another tab that signs in as another user ends what this one shows', async (t) => {
  const visitor = await openVisitor(t, browser, service)
  const { page, context } = visitor
  await signIn(visitor, service)
  await page.goto(`${service.url}/studio/keys/new`)
  await page.getByRole('textbox', { name: 'Name' }).fill('for the wrong user')
  await page.getByRole('button', { name: 'Publish events' }).click()
  const other = { email: 'other@example.com', password: OWNER.password }
  const headers = { authorization: `Bearer ${OPERATOR}`, 'content-type': 'application/json' }
  const made = { method: 'POST', headers, body: JSON.stringify(other) }
  t.equal((await fetch(`${service.address}/v1/users`, made)).status, 201)
  const second = await context.newPage()
  await second.goto(`${service.url}/studio/sign-in`)
  await second.getByLabel('Email address').fill(other.email)
  await second
    .getByLabel('Password', { exact: true })
    .and(second.locator('input'))
    .fill(other.password)
  await second.getByRole('button', { name: 'Sign in' }).click()
  await second.getByRole('heading', { name: 'Home' }).waitFor()
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Another user is signed in' })
  await dialog.getByText(/signed in as other@example\.com/).waitFor()
  t.equal(await second.getByRole('link', { name: 'for the wrong user' }).count(), 0)
  await dialog.getByRole('button', { name: 'Reload page' }).click()
  await page.getByRole('button', { name: `User ${other.email}` }).waitFor()
  await page.goto(`${service.url}/studio/keys`)
  await page.getByText('Keys let programs use the API').waitFor()
})

await t.test('a tab that nobody sees asks for nothing', async (t) => {
  const visitor = await openVisitor(t, browser, service)
  const { page } = visitor
  await page.clock.install()
  await signIn(visitor, service)
  await page.goto(`${service.url}/studio/webhooks`)
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
  await page.waitForLoadState('networkidle')
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await see(false)
  await page.clock.runFor(120_000)
  t.strictSame(asked, [], 'so it does not keep the session alive')
  await see(true)
  await page.clock.runFor(20_000)
  t.ok(asked.some((url) => url.includes('/v1/webhooks')))

  async function see(isVisible: boolean): Promise<void> {
    await page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${isVisible ? 'visible' : 'hidden'}' })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
    `)
  }
})

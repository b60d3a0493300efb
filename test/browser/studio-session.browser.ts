import t from 'tap'
import { openChromium } from './chromium.ts'
import { OWNER, startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor } from './studio/visitor.ts'

const service = await startService(t, { KEYHOOK_BRAND_COLOR: '#ffd43b' })
const browser = await openChromium(t)

await t.test('a person signs in, lands where the link led, and signs out', async (t) => {
  const { page, faults } = await openVisitor(t, browser, service)
  await page.goto(`${service.url}/studio/keys`)
  await page.getByRole('heading', { name: 'Sign in to Service' }).waitFor()
  await lookAt(t, page, 'sign-in')
  await page.getByLabel('Email address').fill(OWNER.email)
  await page
    .getByLabel('Password', { exact: true })
    .and(page.locator('input'))
    .fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  const alert = page.getByRole('alert')
  t.match(await alert.textContent(), /invalid_credentials/, 'with its code')
  await page.getByLabel('Password', { exact: true }).and(page.locator('input')).fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
  t.equal(new URL(page.url()).pathname, '/studio/keys')
  await page.getByRole('button', { name: `User ${OWNER.email}` }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Service' }).waitFor()
  await page.goto(`${service.url}/studio/keys`)
  await page.getByRole('heading', { name: 'Sign in to Service' }).waitFor()
  t.strictSame(faults, [])
})

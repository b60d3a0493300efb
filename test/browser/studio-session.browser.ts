import t from 'tap'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { openChromium } from './chromium.ts'
import { openDatabase } from './database.ts'
import { OWNER, startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

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

/** As if the owner had signed in long ago: the password no longer covers sensitive operations. */
function age(): Promise<void> {
  return service.database.run('UPDATE keyhook_sessions SET authenticated_at = 0')
}

await t.test('the password is asked for in place, and the form keeps its content', async (t) => {
  const visitor = await openVisitor(t, browser, service)
  const { page, faults } = visitor
  await signIn(visitor, service)
  await age()
  await page.goto(`${service.url}/studio/keys/new`)
  await page.getByRole('textbox', { name: 'Name' }).fill('stepped up')
  await page.getByRole('button', { name: 'Read everything' }).click()
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm your password' })
  await lookAt(t, page, 'step-up')
  await dialog.getByLabel(`Password of ${OWNER.email}`).fill('wrong password')
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByRole('alert').getByText('invalid_credentials').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('alert').getByText('step_up_required').waitFor()
  t.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'stepped up')
  await page.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByLabel(`Password of ${OWNER.email}`).fill(OWNER.password)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('heading', { name: 'Copy the key now' }).waitFor()
  // Chromium notes refusals by itself.
  t.strictSame(
    faults.filter((fault) => !/responded with a status of 403/.test(fault)),
    [],
  )
})

await t.test(
  'a claimed setup link leads to the first steps, and those to a live app',
  async (t) => {
    const { env } = await openDatabase(t)
    const fresh = await startDaemonProcess(env)
    t.teardown(() => fresh.end('SIGTERM'))
    const { page, faults } = await openVisitor(t, browser, fresh)
    await page.goto(await setupLinkOf(fresh.output))
    await page.getByLabel('Email address').fill(OWNER.email)
    await page.getByLabel('Password').fill(OWNER.password)
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByRole('link', { name: 'Open Studio' }).click()
    await page.getByRole('heading', { name: 'First steps' }).waitFor()
    await page.getByRole('link', { name: 'Create a key' }).click()
    await page.getByRole('heading', { name: 'New key' }).waitFor()
    await page.goBack()
    const main = page.getByRole('main')
    await main.getByRole('link', { name: 'Create an app' }).click()
    await page.getByLabel('Name (optional)').fill('My first app')
    await main.getByRole('button', { name: 'Create app' }).click()
    await main.getByRole('link', { name: 'Publish…' }).click()
    await main.getByRole('button', { name: 'Publish revision 1' }).click()
    await page.getByRole('heading', { name: 'Release 1 is live' }).waitFor()
    // Browsers look for an icon by themselves; without a language model no prompt has a price.
    t.strictSame(
      faults.filter((fault) => !/status of (?:404 .*favicon|501 )/.test(fault)),
      [],
    )
  },
)

/** The daemon prints it after its address. */
async function setupLinkOf(output: () => string): Promise<string> {
  await until('the setup link is printed', () => /#token=\S+/.test(output()))
  return /http\S+\/studio\/setup#token=\S+/.exec(output())?.[0] ?? ''
}

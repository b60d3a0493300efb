import t from 'tap'
import { openChromium } from './chromium.ts'
import type { Body } from './service.ts'
import { OWNER, startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

const TOKEN = 'an-operator-token-of-thirty-two-characters'
const CANARY = '<script>document.title="pwned"</script><img src=x onerror=alert(1)>'

const service = await startService(
  t,
  { KEYHOOK_OPERATOR_TOKEN: TOKEN, KEYHOOK_BILLING: 'internal' },
  (address) => operate(address, '/v1/users/plan', { email: OWNER.email, plan: 'pro' }),
)
const browser = await openChromium(t)
const visitor = await openVisitor(t, browser, service)
const { page, context, faults } = visitor
const token = page.getByLabel('Operator token').and(page.locator('input'))

async function operate(address: string, path: string, body: Body): Promise<void> {
  const response = await fetch(address + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
}

await t.test('the token is typed once, and the page keeps nothing of it', async (t) => {
  await page.goto(`${service.url}/studio/operator`)
  await page.getByRole('heading', { name: 'Operate Service' }).waitFor()
  await lookAt(t, page, 'operator-sign-in')
  await token.fill('not the token of the operator at all')
  await page.getByRole('button', { name: 'Sign in for an hour' }).click()
  await page.getByRole('alert').getByText('invalid_operator_token').waitFor()
  t.equal(await token.inputValue(), '')
  await token.fill(TOKEN)
  await page.getByRole('button', { name: 'Sign in for an hour' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const kept = await page.evaluate<string>(
    'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])',
  )
  t.notMatch(kept, TOKEN)
  t.equal(await page.evaluate<string>('document.cookie'), '')
  const [cookie] = await context.cookies()
  t.match(cookie, { name: 'keyhook-operator', httpOnly: true, sameSite: 'Strict' })
  t.notMatch(cookie?.value, TOKEN)
})

await t.test('the overview says whether the service is healthy', async (t) => {
  await page.getByText('The service is healthy').waitFor()
  await page.getByText('per second').first().waitFor({ timeout: 20_000 })
  await lookAt(t, page, 'operator-overview')
})

await t.test('accounts: plan, credit, and suspension', async (t) => {
  await operate(service.address, '/v1/accounts', { name: CANARY })
  await page.getByRole('link', { name: 'Accounts' }).click()
  await page.getByRole('table', { name: 'Accounts' }).waitFor()
  await lookAt(t, page, 'operator-accounts')
  await page.getByRole('link', { name: CANARY }).click()
  await page.getByRole('heading', { name: CANARY }).waitFor()
  await page.getByLabel('Plan').selectOption('pro')
  await page.getByLabel('Amount').fill('12.50')
  await page.getByLabel('Note (optional)').fill(CANARY)
  await page.getByRole('button', { name: 'Grant credit' }).click()
  await page.getByText('12.50 can be spent').waitFor()
  await lookAt(t, page, 'operator-account')
  await page.getByRole('button', { name: 'Suspend…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend account' }).click()
  await page.getByText('Suspended').waitFor()
  await page.reload()
  await page.getByText('Suspended').waitFor()
  t.equal(await page.getByLabel('Plan').inputValue(), 'pro')
  t.equal(await page.locator('main img, main script').count(), 0)
})

await t.test('settings in force, with the source of each, and no secret', async (t) => {
  await page.getByRole('link', { name: 'Settings' }).click()
  const row = page.getByRole('row', { name: /KEYHOOK_OPERATOR_TOKEN/ })
  await row.getByText('Secret, set').waitFor()
  t.notMatch(await page.content(), TOKEN)
  await lookAt(t, page, 'operator-settings')
  await page.getByRole('checkbox', { name: 'Show defaults too' }).check()
  await page.waitForURL(/all=true/)
  await page
    .getByRole('row', { name: /KEYHOOK_HOST/ })
    .getByText('Default')
    .first()
    .waitFor()
})

await t.test(
  'a user of the same browser is not the operator, and the other way round',
  async (t) => {
    await signIn(visitor, service)
    const asUser = await page.evaluate<number>(
      `fetch('../v1/accounts').then(({ status }) => status)`,
    )
    t.equal(asUser, 403)
    await page.goto(`${service.url}/studio/operator/accounts`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Operate Service' }).waitFor()
    await page.goto(`${service.url}/studio/operator/accounts`)
    await page.getByRole('heading', { name: 'Operate Service' }).waitFor()
    await page.goto(`${service.url}/studio`)
    await page.getByRole('heading', { name: 'Home' }).waitFor()
  },
)

await t.test('no error, no breach of the policy, no request elsewhere', (t) => {
  const refused = /responded with a status of (400|401|403|404)/
  t.strictSame(
    faults.filter((fault) => !refused.test(fault)),
    [],
  )
  t.end()
})

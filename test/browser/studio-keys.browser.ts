import type { Page } from 'playwright-core'
import t from 'tap'
import { DAY } from '../../lib/time.ts'
import { openChromium } from './chromium.ts'
import type { Body } from './service.ts'
import { OWNER, startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

const CANARY = '<img src=x onerror="document.title=1"> ${7*7} {{7*7}}'

const service = await startService(t)
const browser = await openChromium(t)
const visitor = await openVisitor(t, browser, service)
const { page, faults, context } = visitor

const inMain = (page: Page) => page.getByRole('main')

async function copied(): Promise<string> {
  return page.evaluate<string>('navigator.clipboard.readText()')
}

/** Whether the value of a key is accepted now. */
async function isAccepted(key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` }
  return (await fetch(`${service.address}/v1/keys/self`, { headers })).ok
}

await t.test('a first page shows what needs the person', async (t) => {
  await signIn(visitor, service)
  await page.getByText('All clear').waitFor()
  await page.getByRole('link', { name: 'Add a webhook' }).waitFor()
  await lookAt(t, page, 'home')
})

await t.test('a key that was not used for a week after its creation needs the person', async () => {
  const given = { name: 'idle', scopes: ['keys:read'] }
  const { id } = await service.ask<{ id: string }>('POST', '/v1/keys', given)
  const at = Date.now() - 8 * DAY
  await service.database.run(`UPDATE keyhook_keys SET created_at = ${at} WHERE id = '${id}'`)
  await page.reload()
  await page.getByText('This key was created 8 days ago and never used.').waitFor()
  await service.ask('DELETE', `/v1/keys/${id}`)
  await page.reload()
  await page.getByText('All clear').waitFor()
})

let first = ''

await t.test('a key is created with the scopes of the tree, and shown once', async (t) => {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Keys' }).click()
  await page.getByRole('link', { name: 'walk' }).waitFor()
  await inMain(page).getByRole('link', { name: 'Create key' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(CANARY)
  await page.getByRole('button', { name: 'Deploy apps' }).click()
  t.ok(await page.getByRole('checkbox', { name: 'deploy:write' }).isChecked(), 'by its family')
  await page.getByRole('checkbox', { name: 'keys:write' }).check()
  await lookAt(t, page, 'key-new')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('heading', { name: 'Copy the key now' }).waitFor()
  await lookAt(t, page, 'key-created')
  await page.getByRole('button', { name: 'Copy key' }).click()
  first = await copied()
  t.ok(await isAccepted(first))
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download .env' }).click()
  t.equal((await download).suggestedFilename(), 'keyhook.env')
})

await t.test('what a key may do is what it holds within its chain', async (t) => {
  const headers = { authorization: `Bearer ${first}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'below', scopes: ['apps:read', 'deploy:read'] })
  const made = await fetch(`${service.address}/v1/keys`, { method: 'POST', headers, body })
  const { id } = (await made.json()) as { readonly id: string }
  await page.goto(`${service.url}/studio/keys/${id}`)
  const chain = page.getByRole('list', { name: 'Delegation chain' })
  await chain.getByText('below').waitFor()
  t.equal(await chain.getByRole('listitem').count(), 2)
  await chain.getByText(CANARY).waitFor()
  await lookAt(t, page, 'key')
  await chain.getByRole('link').click()
  await page.getByRole('heading', { name: CANARY }).waitFor()
  t.equal(await page.locator('main img').count(), 0, 'a name is text')
})

await t.test('a key is rotated: both values work for the chosen time', async (t) => {
  await page.getByRole('button', { name: 'Rotate…' }).click()
  await page.getByLabel('The old value works for').selectOption('1 hour')
  await lookAt(t, page, 'key-rotate')
  await page.getByRole('button', { name: 'Rotate key' }).click()
  await page.getByRole('button', { name: 'Copy key' }).click()
  const second = await copied()
  t.not(second, first)
  t.ok((await isAccepted(first)) && (await isAccepted(second)))
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'End previous values now' }).click()
  await page.getByRole('button', { name: 'End previous values now' }).waitFor({ state: 'detached' })
  t.notOk(await isAccepted(first))
  first = second
})

await t.test('revoking names everything that ends with the key', async (t) => {
  await page.getByRole('button', { name: 'Revoke…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('One key below it ends with it:').waitFor()
  await dialog.getByText('below', { exact: true }).waitFor()
  await lookAt(t, page, 'key-revoke')
  await dialog.getByRole('button', { name: 'Revoke 2 keys' }).click()
  await page.getByText('Revoked', { exact: true }).waitFor()
  t.notOk(await isAccepted(first))
  await page.getByRole('link', { name: 'Keys' }).last().click()
  await page.getByLabel('Show').selectOption('All keys')
  await page.getByRole('link', { name: 'below' }).waitFor()
  t.equal(new URL(page.url()).search, '?status=all', 'the filter is in the address')
  await lookAt(t, page, 'keys')
})

await t.test(
  'a session that ended is renewed in place, and the form keeps its content',
  async (t) => {
    await page.goto(`${service.url}/studio/keys/new`)
    await page.getByRole('textbox', { name: 'Name' }).fill('kept')
    await page.getByRole('button', { name: 'Publish events' }).click()
    await context.clearCookies()
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await lookAt(t, page, 'sign-in-again')
    await dialog.getByLabel(`Password of ${OWNER.email}`).fill(OWNER.password)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Copy the key now' }).waitFor()
    const { data } = await service.ask<{ data: readonly Body[] }>('GET', '/v1/keys')
    t.match(data[0], { name: 'kept', scopes: ['events:write'] })
  },
)

await t.test('the first page names keys that end with a key above them', async (t) => {
  const given = { name: 'ends soon', scopes: ['keys:write', 'apps:read'] }
  const above = await service.ask<{ id: string; key: string }>('POST', '/v1/keys', given)
  const made = await fetch(`${service.address}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${above.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ends with it', scopes: ['apps:read'] }),
  })
  t.match(await made.json(), { expires_at: null })
  // A key below takes over the expiry when it is created, and not when it changes.
  const expires_at = new Date(Date.now() + 3 * 86_400_000).toISOString()
  await service.ask('PATCH', `/v1/keys/${above.id}`, { expires_at })
  await page.goto(`${service.url}/studio`)
  const cards = inMain(page).getByRole('listitem')
  await cards.filter({ hasText: 'ends soon' }).getByText('This key expires').waitFor()
  await cards.filter({ hasText: 'ends with it' }).getByText('this one ends with it').waitFor()
  await lookAt(t, page, 'home-expiring')
})

await t.test('no error, no breach of the policy, no request elsewhere', (t) => {
  t.strictSame(faults, [])
  t.end()
})

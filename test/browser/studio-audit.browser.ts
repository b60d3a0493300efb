import t from 'tap'
import { openChromium } from './chromium.ts'
import type { Body } from './service.ts'
import { OWNER, startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

const service = await startService(t)
const browser = await openChromium(t)
const visitor = await openVisitor(t, browser, service)
const { page, faults } = visitor

await t.test('who changed what and when, filtered by the service', async (t) => {
  const made = await service.ask<Body & { id: string }>('POST', '/v1/keys', {
    name: 'audited',
    scopes: ['keys:read'],
  })
  await service.ask('DELETE', `/v1/keys/${made.id}`)
  await signIn(visitor, service)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Audit' }).click()
  const table = page.getByRole('table', { name: 'Audit entries' })
  await table.getByText('user.signed_in').first().waitFor()
  await table.getByText('Studio', { exact: true }).first().waitFor()
  await lookAt(t, page, 'audit')
  await page.getByLabel('On id').fill(made.id)
  await page.getByLabel('On id').press('Enter')
  await page.waitForURL(/target=/)
  await page.getByText('2 in all').waitFor()
  await page.getByLabel('Action').fill('key.revoked')
  await page.getByLabel('Action').press('Enter')
  await page.getByText('1 in all').waitFor()
  await page.reload()
  await page.getByText('1 in all').waitFor()
  t.equal(await page.getByLabel('Action').inputValue(), 'key.revoked', 'the address is the search')
  await page.getByLabel('Action').fill('nothing.happened')
  await page.getByLabel('Action').press('Enter')
  await page.getByText('No entry matches these filters.').waitFor()
})

await t.test('sessions: one is this one; one is ended, then all others', async (t) => {
  const others = [
    await openVisitor(t, browser, service),
    await openVisitor(t, browser, service),
    await openVisitor(t, browser, service),
  ]
  for (const other of others) await signIn(other, service)
  await page.getByRole('button', { name: /^User / }).click()
  await page.getByRole('menuitem', { name: 'Sessions' }).click()
  const table = page.getByRole('table', { name: 'Sessions' })
  const end = table.getByRole('button', { name: /^End session/ })
  await table.getByText('This one').waitFor()
  // One more is that of the owner who made the key.
  await page.getByRole('button', { name: 'End 4 other sessions' }).waitFor()
  await lookAt(t, page, 'sessions')
  await end.first().click()
  await page.getByRole('button', { name: 'End 3 other sessions' }).click()
  await page.getByRole('button', { name: /other session/ }).waitFor({ state: 'detached' })
  t.equal(await end.count(), 0)
  for (const other of others) {
    await other.page.goto(`${service.url}/studio/keys`)
    await other.page.getByRole('heading', { name: 'Sign in to Service' }).waitFor()
  }
  await page.reload()
  await table.getByText('This one').waitFor()
})

await t.test('members: who may sign in, and since when', async (t) => {
  const nav = page.getByRole('navigation', { name: 'Main' })
  await nav.getByRole('link', { name: 'Settings' }).click()
  const members = page.getByRole('table', { name: 'Members' })
  await members.getByText(OWNER.email).waitFor()
  await members.getByText('You', { exact: true }).waitFor()
  await members.getByText('Owner', { exact: true }).waitFor()
  await page.getByText('1 in all').waitFor()
  await page.getByText(/keyhook owner create --account-id [0-9a-f-]{36} /).waitFor()
  await lookAt(t, page, 'members')
  await page.setViewportSize({ width: 1440, height: 900 })
  await members.getByRole('link', { name: 'Show in the audit log' }).click()
  await page.waitForURL(/actor=/)
  await page
    .getByRole('table', { name: 'Audit entries' })
    .getByText('user.signed_in')
    .first()
    .waitFor()
  await nav.getByRole('link', { name: 'Settings' }).click()
  const tabs = page.getByRole('navigation', { name: 'Settings' })
  await tabs.getByRole('link', { name: 'Sessions' }).click()
  await page.getByRole('table', { name: 'Sessions' }).waitFor()
})

await t.test('no error, no breach of the policy, no request elsewhere', (t) => {
  t.strictSame(faults, [])
  t.end()
})

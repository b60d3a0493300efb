import t from 'tap'
import { startDns } from '../support/dns.ts'
import { openChromium } from './chromium.ts'
import type { Body } from './service.ts'
import { startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'

const dns = await startDns(t)
const service = await startService(t, {
  KEYHOOK_APPS_DOMAIN: 'apps.example.net',
  KEYHOOK_DNS_SERVERS: dns.address,
})
const browser = await openChromium(t)

await t.test('a domain shows the records to copy, and what was found of them', async (t) => {
  const visitor = await openVisitor(t, browser, service)
  const { page, faults } = visitor
  const app = await service.makeApp({ template_id: 'blank', alias: 'shop' })
  await signIn(visitor, service)
  await page.goto(`${service.url}/studio/apps/${app.id}/domains`)
  await page.getByText('Add a hostname of yours').waitFor()
  await page.getByRole('textbox', { name: 'Hostname' }).fill('shop.example.com')
  await page.getByRole('button', { name: 'Add domain' }).click()
  const records = page.getByRole('list', { name: 'Records of shop.example.com' })
  await records
    .getByRole('button', { name: /Copy value/ })
    .first()
    .click()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  const { data } = await service.ask<{ data: readonly { records: readonly Body[] }[] }>(
    'GET',
    `/v1/apps/${app.id}/settings/domains`,
  )
  const [challenge] = data[0]?.records ?? []
  t.equal(copied, challenge?.['value'])
  await records.getByText('Not found').first().waitFor()
  await lookAt(t, page, 'domains')
  dns.set(String(challenge?.['name']), { txt: [copied] })
  dns.set('shop.example.com', { cname: 'apps.example.net' })
  await page.getByRole('button', { name: 'Check now: shop.example.com' }).click()
  await page.getByText('Leads to the app').waitFor()
  t.equal(await records.getByText('Found', { exact: true }).count(), 2)
  await page.getByRole('button', { name: 'Make primary' }).click()
  await page.getByText('This is the primary hostname.').waitFor()
  await lookAt(t, page, 'domains-verified')
  await page.getByRole('button', { name: 'Delete shop.example.com' }).click()
  await page.getByText('Add a hostname of yours').waitFor()
  t.strictSame(faults, [])
})

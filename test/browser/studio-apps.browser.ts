import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FrameLocator } from 'playwright-core'
import t from 'tap'
import { openChromium } from './chromium.ts'
import type { App, Body } from './service.ts'
import { OWNER, startService } from './service.ts'
import { lookAt } from './studio/look.ts'
import { openVisitor, signIn } from './studio/visitor.ts'
import { edit, written } from '../support/editing.ts'
import { FAKE_MODEL, startFakeModel } from '../support/fake-model.ts'

const CANARY = '<img src=x onerror="document.title=1"> ${7*7} {{7*7}}'
const OPERATOR = 'operator-token-of-the-tests-0123456789'

const model = await startFakeModel()
t.teardown(() => model.close())
const folder = mkdtempSync(join(tmpdir(), 'studio-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const PRICES = {
  version: 'v1',
  effective_at: new Date(0).toISOString(),
  plans: { pro: { price_micros: 25_000_000, monthly_credit_micros: 25_000_000 } },
  topup: { min_micros: 5_000_000, max_micros: 1_000_000_000 },
  operations: {
    'apps.create': { meter: 'apps', price_micros: 500_000, per: 1 },
    'edits.create': { meter: 'edits', price_micros: 100_000, per: 1 },
    'files.upload': { meter: 'bytes', price_micros: 20_000, per: 1_000_000 },
  },
}
writeFileSync(join(folder, 'prices.json'), JSON.stringify({ versions: [PRICES] }))
const OPERATING = { authorization: `Bearer ${OPERATOR}`, 'content-type': 'application/json' }

/** As the operator does: the plan that has keys, and credit. */
async function endow(address: string): Promise<void> {
  const ask = async (path: string, body: Body | undefined, headers = {}): Promise<Body> => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const headersOf = { ...OPERATING, ...headers }
    const answer = await fetch(address + path, { ...sent, headers: headersOf })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as Body
  }
  await ask('/v1/users/plan', { email: OWNER.email, plan: 'pro' })
  const { data } = await ask('/v1/accounts', undefined)
  const [account] = data as readonly { readonly id: string }[]
  await ask('/v1/billing/credits', { amount: '20.00' }, { 'Keyhook-Account': account?.id ?? '' })
}

const SETTINGS = {
  KEYHOOK_OPERATOR_TOKEN: OPERATOR,
  KEYHOOK_BILLING: 'internal',
  KEYHOOK_PRICES: join(folder, 'prices.json'),
  KEYHOOK_LLM_BASE_URL: model.url,
  KEYHOOK_LLM_API_KEY: 'sk-of-the-tests',
  KEYHOOK_LLM_MODEL: FAKE_MODEL,
}
const service = await startService(t, SETTINGS, endow)
const browser = await openChromium(t)
const visitor = await openVisitor(t, browser, service)
const { page, faults } = visitor
const preview: FrameLocator = page.frameLocator('iframe[title="Preview of the app"]')

const tab = (name: string) =>
  page.getByRole('navigation', { name: 'App' }).getByRole('link', { name, exact: true }).click()

let app: App

await t.test('an app is created from a template, and shown next to its edits', async (t) => {
  await signIn(visitor, service)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Apps' }).click()
  await page.getByText('An app is a small website').waitFor()
  await lookAt(t, page, 'apps-empty')
  await page.getByRole('main').getByRole('link', { name: 'Create app' }).first().click()
  await page.getByRole('radio', { name: 'Business page' }).check()
  await page.getByRole('textbox', { name: 'Name (optional)' }).fill(CANARY)
  await page.getByRole('textbox', { name: 'Alias (optional)' }).fill('bakery')
  await lookAt(t, page, 'app-new')
  await page.getByRole('button', { name: 'Create app' }).click()
  await page.getByRole('heading', { name: CANARY }).waitFor()
  await page.getByText('Not published').waitFor()
  t.equal(await page.locator('main img').count(), 0, 'a name is text')
  await preview.locator('h1').first().waitFor()
  ;[app] = (await service.ask<{ data: readonly [App] }>('GET', '/v1/apps')).data
  t.equal(new URL(page.url()).pathname, `/studio/apps/${app.id}`)
  await lookAt(t, page, 'app')
})

await t.test('the price of an edit is said before, and its progress while it runs', async (t) => {
  await page.getByText('This costs USD 0.10. It is free when it fails.').waitFor()
  let go = (): void => undefined
  const before = new Promise<void>((resolve) => (go = resolve))
  const text = written([{ op: 'write', path: 'hours.html', content: '<h1>Open daily</h1>\n' }])
  const change = model.script({ text, before })
  const ask = async (what: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'What shall change?' }).fill(what)
    await page.getByRole('button', { name: 'Edit app' }).click()
    await page.getByRole('link', { name: what }).waitFor()
  }
  await ask(`Say when we are open. ${change}`)
  const failing = model.script({ text: edit('index.html', 'not in it', 'x') })
  await ask(`Break it. ${CANARY} ${failing}`)
  await page.getByText('Number 1 in the queue of this app.').waitFor()
  t.equal(await page.getByRole('progressbar', { name: 'Progress of the edit' }).count(), 2)
  await lookAt(t, page, 'app-editing')
  go()
  const edits = page.getByRole('list', { name: 'Edits' })
  await edits.getByText('Done', { exact: true }).waitFor()
  await edits.getByText('Failed', { exact: true }).waitFor()
  await page.getByText('Revision 2', { exact: true }).first().waitFor()
  t.match(await service.ask('GET', '/v1/billing/wallet'), { balance: '19.90', held_micros: 0 })
})

await t.test('an edit shows what it changed; a failed one says that it is free', async (t) => {
  await page.getByRole('link', { name: /^Break it/ }).click()
  await page.getByText('Nothing changed, and nothing is charged.').waitFor()
  t.equal(await page.locator('main img').count(), 0, 'a prompt is text')
  await lookAt(t, page, 'edit-failed')
  await tab('Build')
  await page.getByRole('link', { name: /^Say when/ }).click()
  await page.getByLabel('Changes of hours.html').getByText('+<h1>Open daily</h1>').waitFor()
  await lookAt(t, page, 'edit')
})

await t.test('a file is edited as text, and what is not saved is kept', async (t) => {
  await tab('Files')
  const files = page.getByRole('navigation', { name: 'Files' })
  await files.getByRole('link', { name: 'hours.html' }).click()
  const text = page.getByRole('textbox', { name: 'Text of hours.html' })
  await text.fill('<h1>Open on Sundays</h1>\n')
  await files.getByRole('link', { name: 'index.html' }).click()
  await page.getByRole('textbox', { name: 'Text of index.html' }).waitFor()
  await files.getByRole('link', { name: 'hours.html' }).click()
  await page.getByText('Not saved').waitFor()
  await lookAt(t, page, 'files')
  await page.getByRole('button', { name: 'Save file' }).click()
  await page.getByText('As in revision 3').waitFor()
  const path = `/v1/apps/${app.id}/content?path=hours.html`
  t.match(await service.ask('GET', path), { content: '<h1>Open on Sundays</h1>\n', revision: 3 })
  await page.getByRole('textbox', { name: 'Path of a new file' }).fill('new.html')
  await page.getByRole('button', { name: 'Add file' }).click()
  await page.getByRole('textbox', { name: 'Text of new.html' }).waitFor()
  await page.getByRole('button', { name: 'Delete file' }).click()
  await page.getByText('Choose a file').waitFor()
})

await t.test('publishing takes one click, and shows what changes for visitors', async (t) => {
  await page.getByRole('link', { name: 'Publish…' }).click()
  await page.getByRole('button', { name: 'Publish revision 5' }).click()
  await page.getByRole('heading', { name: 'Release 1 is live' }).waitFor()
  t.equal(await seenAt('/hours.html'), 'Open on Sundays')
  await service.edit(app, { op: 'write', path: 'hours.html', content: '<h1>Never</h1>\n' })
  await page.reload()
  await page.getByLabel('Changes of hours.html').getByText('+<h1>Never</h1>').waitFor()
  await lookAt(t, page, 'releases')
  await page.getByRole('button', { name: 'Publish revision 6' }).click()
  await page.getByRole('heading', { name: 'Release 2 is live' }).waitFor()
  t.equal(await seenAt('/hours.html'), 'Never')
})

/** What a stranger with a browser sees at the address of the app. */
async function seenAt(path: string): Promise<string> {
  const guest = await browser.newPage()
  await guest.goto(app.production_url + path)
  const text = await guest.locator('body').textContent()
  await guest.close()
  return text?.trim() ?? ''
}

await t.test('a rollback is at once, from the list or from a release', async (t) => {
  await page.getByRole('button', { name: 'Roll back' }).click()
  await page.getByRole('heading', { name: 'Release 3 is live' }).waitFor()
  const { live } = await service.ask<{ live: Body }>('GET', `/v1/apps/${app.id}/deploy/status`)
  t.match(live, { kind: 'rollback', revision: 5 })
  t.equal(await seenAt('/hours.html'), 'Open on Sundays')
  await page.getByRole('link', { name: 'Release 2' }).click()
  await page.getByRole('list', { name: 'Log' }).getByRole('listitem').first().waitFor()
  await lookAt(t, page, 'release')
  await page.getByRole('button', { name: 'Roll back to release 2' }).click()
  await page.getByRole('heading', { name: 'Release 4 is live' }).waitFor()
  await page.getByText('Visitors see the current revision.').waitFor()
})

await t.test('an earlier revision comes back as a new one', async (t) => {
  await tab('Revisions')
  await lookAt(t, page, 'revisions')
  await page.getByRole('link', { name: 'Revision 1', exact: true }).click()
  await page.getByLabel('Changes of hours.html').getByText('-<h1>Never</h1>').waitFor()
  await lookAt(t, page, 'revision')
  await page.getByRole('button', { name: 'Restore revision 1' }).click()
  await page.getByText('Revision 1 restored').waitFor()
  const treeOf = (query: string) => service.ask('GET', `/v1/apps/${app.id}/tree${query}`)
  t.strictSame({ ...(await treeOf('')), revision: 1 }, await treeOf('?revision=1'))
})

await t.test('documents are uploaded, read, and searched', async (t) => {
  await tab('Knowledge')
  const path = join(folder, 'hours.md')
  writeFileSync(path, `# Opening hours\n\nOn Saturdays until two. ${CANARY}\n`)
  const empty = join(folder, 'empty.md')
  writeFileSync(empty, '')
  await page.getByLabel('Knowledge files', { exact: true }).setInputFiles([path, empty])
  await page.getByRole('button', { name: 'Upload 2 files' }).click()
  await page.getByRole('list', { name: 'Refused files' }).getByText('empty.md').waitFor()
  await page.getByText('Searchable').waitFor()
  await page.getByRole('textbox', { name: 'Question to the files' }).fill('Saturdays')
  await page.getByRole('button', { name: 'Search files' }).click()
  await page.getByRole('list', { name: 'Passages' }).getByText('On Saturdays until two').waitFor()
  t.equal(new URL(page.url()).search, '?query=Saturdays', 'the question is in the address')
  t.equal(await page.locator('main img').count(), 0, 'a passage is text')
  await lookAt(t, page, 'knowledge')
  await page.getByRole('button', { name: 'Delete hours.md' }).click()
  await page.getByText('What the app should know').waitFor()
})

interface Usage extends Body {
  readonly daily: readonly {
    readonly date: string
    readonly published: { readonly requests: number }
    readonly preview: { readonly requests: number }
  }[]
}

/** Whether the chart of requests has the accent's colour in it. */
const IS_DRAWN = `(() => {
  const link = document.querySelector('main a')
  const [red, green, blue] = getComputedStyle(link).color.match(/\\d+/g).map(Number)
  const canvas = document.querySelector('figure[aria-label="Requests by day"] canvas')
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let drawn = 0
  for (let at = 0; at < data.length; at += 4)
    if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) drawn++
  return drawn > 100
})()`

await t.test('usage and settings say what is, and what is not available yet', async (t) => {
  await tab('Usage')
  const chart = page.getByRole('figure', { name: 'Requests by day' })
  await chart.getByRole('img', { name: /^Requests by day: at most [1-9]/ }).waitFor()
  t.ok(await page.evaluate<boolean>(IS_DRAWN), 'there is a column')
  await chart.getByText('As a table').click()
  const { daily } = await service.ask<Usage>('GET', `/v1/apps/${app.id}/hosting-usage`)
  const day = daily.at(-1)
  const cells = chart.getByRole('table').getByRole('row').last().getByRole('cell')
  t.strictSame(await cells.allTextContents(), [
    day?.date,
    String(day?.published.requests),
    String(day?.preview.requests),
  ])
  await lookAt(t, page, 'usage')
  await tab('Settings')
  await page.getByText('Not available yet: services are stored').waitFor()
  await lookAt(t, page, 'app-settings')
  await page.getByRole('button', { name: 'Archive app…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Archive app' }).click()
  await page.getByRole('button', { name: 'Restore app' }).click()
  await page.getByRole('button', { name: 'Archive app…' }).waitFor()
})

await t.test('the bill shows what is held, and what each row paid for', async (t) => {
  const main = page.getByRole('navigation', { name: 'Main' })
  await main.getByRole('link', { name: 'Billing' }).click()
  await page.getByText('can be spent').waitFor()
  await page.getByRole('table', { name: 'Limits' }).waitFor()
  await page.getByRole('table', { name: 'Prices' }).getByText('edits.create').waitFor()
  await lookAt(t, page, 'billing')
  await page.getByRole('link', { name: 'Show the ledger' }).click()
  await page.getByLabel('Show').selectOption('Charges')
  const rows = page.getByRole('table', { name: 'Transactions' }).getByRole('row')
  await rows.filter({ hasText: 'edits.create' }).waitFor()
  await lookAt(t, page, 'ledger')
  await rows.filter({ hasText: 'edits.create' }).getByRole('link').click()
  await page.getByRole('heading', { name: CANARY }).waitFor()
})

await t.test('an app is created from a prompt and files', async (t) => {
  const given = join(folder, 'menu.html')
  writeFileSync(given, '<h1>Menu</h1>\n')
  await page.goto(`${service.url}/studio/apps/new?from=prompt`)
  await page.getByText('This costs USD 0.50.').waitFor()
  const text = written([{ op: 'write', path: 'index.html', content: '<h1>Made</h1>\n' }])
  const prompt = page.getByRole('textbox', { name: 'What shall it be?' })
  await prompt.fill(`A bakery. ${model.script({ text })}`)
  await page.getByLabel('Files to begin with (optional)').setInputFiles(given)
  await page.getByText('menu.html').waitFor()
  await lookAt(t, page, 'app-new-prompt')
  await page.getByRole('button', { name: 'Create app' }).click()
  await preview.getByRole('heading', { name: 'Made' }).waitFor()
  t.match(await service.ask('GET', '/v1/billing/wallet'), { held_micros: 0 })
})

await t.test('no error, no breach of the policy, no request elsewhere', (t) => {
  t.strictSame(faults, [])
  t.end()
})

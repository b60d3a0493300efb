import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

/** What a template is for, done once by a visitor. */
export const USES: Readonly<Record<string, (t: Test, page: Page) => Promise<void>>> = {
  blank: readDate,
  dashboard: openTable,
  landing: writeMail,
  notes: keepNotes,
}

async function readDate(t: Test, page: Page): Promise<void> {
  const today = new Date().toLocaleDateString('en-US', { dateStyle: 'full' })
  t.equal(await page.locator('#today').textContent(), `Today is ${today}.`)
}

async function openTable(t: Test, page: Page): Promise<void> {
  const status = page.getByRole('status')
  t.match(await status.textContent(), /^Showing the sample\. Rows: 48\. Columns: 4\.$/)
  const csv = 'city,visitors\nOslo,7\nRome,30\nOslo,5\n'
  const file = { name: 'visitors.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
  await page.getByLabel('Open a CSV file').setInputFiles(file)
  await status.getByText('Showing visitors.csv. Rows: 3. Columns: 2.').waitFor()
  t.strictSame(await page.locator('#cards dd').allTextContents(), ['3', '42', '14', 'Rome'])
  t.strictSame(await page.locator('#bars th').allTextContents(), ['Rome', 'Oslo'])

  const cells = page.locator('#table tbody td:last-child')
  const heading = page.getByRole('button', { name: 'visitors' })
  await heading.click()
  t.strictSame(await cells.allTextContents(), ['5', '7', '30'])
  await heading.click()
  t.strictSame(await cells.allTextContents(), ['30', '7', '5'])
  await page.getByLabel('Numbers from').selectOption('Number of rows')
  t.strictSame(await page.locator('#bars .number').allTextContents(), ['2', '1'])

  const broken = { ...file, name: 'broken.csv', buffer: Buffer.from('city\n"Oslo') }
  await page.getByLabel('Open a CSV file').setInputFiles(broken)
  await status.getByText('Cannot show broken.csv.').waitFor()
  t.equal(await page.locator('#table tbody tr').count(), 3, 'what was shown stays')
}

async function writeMail(t: Test, page: Page): Promise<void> {
  t.match(await page.locator('#open-now').textContent(), /^(Open now|Closed)/)
  t.equal(await page.locator('[aria-current=date]').count(), 1, 'today')
  await page.getByRole('link', { name: 'Contact' }).click()
  const sent = page.locator('#sent')
  const send = page.getByRole('button', { name: 'Open in my mail program' })
  await page.getByLabel('Your name').fill('Ann')
  await send.click()
  t.equal(await sent.textContent(), '', 'nothing is sent without a message')
  await page.getByLabel('Your message').fill('Are you open & free?\nAnn')
  await page.getByLabel('What is it about?').selectOption('An appointment')
  const asked = page.waitForRequest(/^mailto:/)
  await send.click()
  t.match(await sent.textContent(), /^Your mail program should open now\./)
  const mail = new URL((await asked).url())
  t.equal(`${mail.protocol}${mail.pathname}`, 'mailto:hello@example.com')
  t.strictSame(Object.fromEntries(mail.searchParams), {
    subject: 'An appointment from Ann',
    body: 'Are you open & free?\r\nAnn\r\n\r\nAnn',
  })
}

async function keepNotes(t: Test, page: Page): Promise<void> {
  const titles = page.locator('#list h3')
  for (const title of ['Milk', 'Bread']) {
    await page.getByRole('button', { name: 'New note' }).click()
    await page.getByLabel('Title').fill(title)
    await page.getByLabel('Text').fill(`${title}, from the corner`)
    await page.getByRole('button', { name: 'Save and close' }).click()
    await page.getByRole('button', { name: title, exact: true }).waitFor()
  }
  t.strictSame(await titles.allTextContents(), ['Bread', 'Milk'], 'the newest first')
  await page.reload({ waitUntil: 'networkidle' })
  await page.getByLabel('Search in your notes').fill('corner mil')
  t.strictSame(await titles.allTextContents(), ['Milk'])
  await page.getByRole('button', { name: 'Delete Milk' }).click()
  t.strictSame(await titles.allTextContents(), [])

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export all' }).click()
  const download = await downloading
  t.match(download.suggestedFilename(), /^notes-\d{4}-\d\d-\d\d\.json$/)
  const notes = readFileSync(await download.path(), 'utf8')
  t.match(JSON.parse(notes), { length: 1, 0: { title: 'Bread', text: 'Bread, from the corner' } })

  await page.getByRole('button', { name: 'Undo delete' }).click()
  t.strictSame((await titles.allTextContents()).toSorted(), ['Bread', 'Milk'])
  const others = notes.replaceAll('Bread', 'Salt').replace('"id": "', '"id": "other-')
  const file = { name: 'kept.json', mimeType: 'application/json', buffer: Buffer.from(others) }
  await page.getByLabel('Import a file').setInputFiles(file)
  await page.getByText('Imported 1 note from kept.json.').waitFor()
  t.strictSame((await titles.allTextContents()).toSorted(), ['Bread', 'Milk', 'Salt'])
}

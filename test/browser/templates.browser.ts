import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import t from 'tap'
import { templates } from '../support/templates.ts'
import { openChromium } from './chromium.ts'
import { startService } from './service.ts'
import { USES } from './uses.ts'

const NARROW = { width: 360, height: 740 }
/** What a careful owner would set: nothing inline, nothing of others. */
const STRICT = '<meta http-equiv="Content-Security-Policy" content="default-src \'self\'" />'
const HEAD = '<meta charset="utf-8" />'

/** Whatever a page complains of, or asks for in vain. */
function watchFaults(page: Page): readonly string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('requestfailed', (request) => {
    // There is no mail program here.
    if (!request.url().startsWith('mailto:')) faults.push(`${request.url()} failed`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.url()} ${response.status()}`)
  })
  return faults
}

async function checkWidth(t: Test, page: Page): Promise<void> {
  const width = await page.evaluate('document.documentElement.scrollWidth')
  t.equal(width, NARROW.width, 'nothing is wider than a narrow screen')
}

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'

/** Goes through a page by its Tab key: every control has its turn, and looks different while it has. */
async function checkFocus(t: Test, page: Page): Promise<void> {
  const controls = await page.locator(CONTROLS).filter({ visible: true }).count()
  for (let turn = 1; turn <= controls; turn += 1) {
    await page.keyboard.press('Tab')
    const name = await page.evaluate<string>(
      `(globalThis.at = document.activeElement, at.outerHTML.slice(0, 80))`,
    )
    t.ok(await page.evaluate(`at.matches(${JSON.stringify(CONTROLS)})`), `${turn}: ${name}`)
    const focused = await page.screenshot()
    await page.evaluate('at.blur()')
    t.notOk(focused.equals(await page.screenshot()), `it shows: ${name}`)
    await page.evaluate('at.focus()')
  }
  await page.keyboard.press('Tab')
  t.equal(await page.evaluate('document.activeElement.tagName'), 'BODY', 'there are no others')
}

const service = await startService(t)
const browser = await openChromium(t)

t.strictSame(
  Object.keys(USES).toSorted(),
  templates.map(({ id }) => id),
)

for (const { id, entry } of templates) {
  await t.test(`the template ${id}`, async (t) => {
    const app = await service.makeApp({ template_id: id })
    await service.deploy(app, 'publish')
    await service.edit(app, { op: 'patch', path: entry, search: HEAD, replace: HEAD + STRICT })
    const addresses = { published: app.production_url, 'under a strict policy': app.preview_url }
    for (const [how, address] of Object.entries(addresses)) {
      await t.test(`works, ${how}`, async (t) => {
        const page = await browser.newPage({ locale: 'en-US', viewport: NARROW })
        const faults = watchFaults(page)
        await page.goto(address, { waitUntil: 'networkidle' })
        await checkWidth(t, page)
        await USES[id]?.(t, page)
        await checkWidth(t, page)
        await page.waitForLoadState('networkidle')
        t.strictSame(faults, [])
        await page.close()
      })
    }
    await t.test('can be used by keyboard', async (t) => {
      const page = await browser.newPage()
      await page.goto(app.production_url, { waitUntil: 'networkidle' })
      await checkFocus(t, page)
      await page.close()
    })
  })
}

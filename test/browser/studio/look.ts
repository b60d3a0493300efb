/**
 * Looks at a page of Studio as people do: in both themes and at both widths, with axe and a screenshot of each.
 *
 * @module
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { DATABASE } from '../database.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Where the screenshots are, by page, theme and width. */
const SCREENSHOTS = fileURLToPath(new URL('../../../screenshots/', import.meta.url))

const WIDTHS = [360, 1440] as const
const THEMES = ['light', 'dark'] as const
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

interface Found {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

export async function lookAt(t: Test, page: Page, name: string): Promise<void> {
  // Looks take most of the time, and a page looks the same whatever stores what it shows.
  if (DATABASE !== 'sqlite') return
  mkdirSync(SCREENSHOTS, { recursive: true })
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      const title = `${name}, ${colorScheme}, ${width} px`
      t.strictSame(await faultsOf(page), [], `axe finds nothing: ${title}`)
      const excess = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      t.equal(excess, 0, `nothing is wider than the window: ${title}`)
      const path = join(SCREENSHOTS, `${name}-${width}-${colorScheme}.png`)
      await page.screenshot({ path, fullPage: true })
    }
  }
}

/** Through the debugger, which the page's policy does not bind. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  // What is in a preview is an app's own.
  const options = JSON.stringify({ runOnly: { type: 'tag', values: RULES }, iframes: false })
  const { violations } = await page.evaluate<Found>(`axe.run(document, ${options})`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  )
}

import type { BrowserContext, Page } from 'playwright-core'
import { openChromium } from '../browser/chromium.ts'
import type { Round } from './round.ts'

/** A daemon whose owner is signed in to a browser that has nothing of it yet. */
export interface Visit {
  readonly origin: string
  readonly context: BrowserContext
  /** Account of the owner. */
  readonly account: string
  /** A new page, with the script run before any of the page's own. */
  open(script: string): Promise<Page>
}

/**
 * Signs the owner in, and gives the session's cookie to a new context.
 *
 * @throws Error where Chromium is not installed
 */
export async function visit(
  round: Round,
  origin: string,
  owner: { readonly email: string; readonly password: string },
): Promise<Visit> {
  const browser = await openChromium({ teardown: (end) => round.leftovers.add(async () => end()) })
  round.note(`Chromium ${browser.version()}, without a window`)
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const answer = await context.request.post(`${origin}/v1/session`, {
    data: owner,
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  if (!answer.ok()) throw new Error(`not signed in: ${await answer.text()}`)
  const { account } = (await answer.json()) as { readonly account: { readonly id: string } }
  return {
    origin,
    context,
    account: account.id,
    async open(script) {
      const page = await context.newPage()
      await page.addInitScript(script)
      return page
    },
  }
}

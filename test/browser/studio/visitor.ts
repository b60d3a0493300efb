import type { Browser, BrowserContext, Page, Request } from 'playwright-core'
import type { Test } from 'tap'
import type { Service } from '../service.ts'
import { OWNER } from '../service.ts'

/** A person with a browser, and everything that a browser complains of. */
export interface Visitor {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of the console and of scripts, breaches of the policy, requests to other origins. */
  readonly faults: readonly string[]
}

/** Whether a frame of the page asks: previews are pages of apps, of other origins. */
function isOfPreview(request: Request): boolean {
  const { hostname } = new URL(request.url())
  return request.frame().parentFrame() !== null && hostname.startsWith('preview--')
}

/** Without a session the service says so, and Chromium notes the status by itself. */
const SIGNED_OUT = /the server responded with a status of 401/

export async function openVisitor(
  t: Pick<Test, 'teardown'>,
  browser: Browser,
  { url }: Pick<Service, 'url'>,
): Promise<Visitor> {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  context.setDefaultTimeout(10_000)
  t.teardown(() => context.close())
  const faults: string[] = []
  await context.exposeFunction('noteBreach', (text: string) => faults.push(`policy: ${text}`))
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
      noteBreach([violatedDirective, blockedURI, sourceFile, lineNumber].join(' ')))`,
  )
  const { origin } = new URL(url)
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== origin && !isOfPreview(request))
      faults.push(`elsewhere: ${request.url()}`)
  })
  const page = await context.newPage()
  page.on('pageerror', ({ message }) => faults.push(`script: ${message}`))
  page.on('console', (message) => {
    const text = message.text()
    const isOwn = new URL(message.location().url || url).origin === origin
    if (['error', 'warning'].includes(message.type()) && isOwn && !SIGNED_OUT.test(text)) {
      faults.push(`${message.type()}: ${text} ${message.location().url}`)
    }
  })
  return { page, context, faults }
}

export async function signIn({ page }: Visitor, { url }: Pick<Service, 'url'>): Promise<void> {
  await page.goto(`${url}/studio`)
  await page.getByLabel('Email address').fill(OWNER.email)
  await page.getByLabel('Password', { exact: true }).and(page.locator('input')).fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
}

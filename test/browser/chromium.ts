import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'
import type { Test } from 'tap'

/** Chromium as the system's packages install it, without a window. */
export async function openChromium(t: Pick<Test, 'teardown'>): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findInPath('chromium'),
    // Root cannot have its sandbox; whoever else runs this does.
    chromiumSandbox: process.getuid?.() !== 0,
  })
  t.teardown(() => browser.close())
  return browser
}

function findInPath(name: string): string {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name))
  const found = places.find(isExecutable)
  if (found === undefined)
    throw new Error(`${name} is not in PATH: npm run test:browser installs it`)
  return found
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Preloaded into a daemon by a test alone: it dies at the failpoint of edits, files, deployments and money that
 * a file names, and takes that file away right before, so that whoever wrote it knows that it was reached.
 *
 * Which file it is, `WORK_FAILPOINT` says. Nothing of this is in the product.
 */
import { readFileSync, unlinkSync } from 'node:fs'
import { BILLING_FAILPOINTS } from './billing-failpoints.ts'
import { DEPLOY_FAILPOINTS } from './deploy-failpoints.ts'
import { matches } from './failpoint-match.ts'
import type { Asked } from './drivers.ts'
import { watchDatabases } from './drivers.ts'
import type { Failpoint } from './failpoint-table.ts'
import type { WorkFailpoint } from './work-failpoints.ts'
import { WORK_FAILPOINTS } from './work-failpoints.ts'

const file = process.env['WORK_FAILPOINT'] ?? ''
const failpoints = [WORK_FAILPOINTS, DEPLOY_FAILPOINTS, BILLING_FAILPOINTS].flatMap((table) =>
  Object.values<readonly WorkFailpoint[]>(table).flat(),
)
let passed = 0

function readArmed(): WorkFailpoint | undefined {
  try {
    const name = readFileSync(file, 'utf8')
    return failpoints.find((one) => one.name === name)
  } catch {
    return undefined
  }
}

function onStatement(when: Failpoint['when'], asked: Asked): void {
  const armed = readArmed()
  if (armed === undefined || armed.when !== when || !matches(armed.at, asked)) return
  passed += 1
  if (passed < (armed.nth ?? 1)) return
  // In the middle of it the driver is given a random while, most often less than it takes.
  if (when === 'during') setTimeout(die, Math.random() * 2)
  else die()
}

function die(): void {
  unlinkSync(file)
  process.kill(process.pid, 'SIGKILL')
}

watchDatabases({
  rewrite: (sql) => sql,
  answersEarly: () => false,
  before: (asked) => onStatement('before', asked),
  during: (asked) => onStatement('during', asked),
  after: (asked) => onStatement('after', asked),
  moment: () => undefined,
  cutsBody: () => false,
})

import type { CrashDatabase } from '../database.ts'
import { LEASE } from '../facts.ts'
import type { Ledger } from '../ledger.ts'

/** Of a clock that jumps: how far it was ahead, and what lets time pass by one more jump. */
export interface Jumping {
  readonly ahead: () => number
  /** The daemon is started again, and its clock jumps. */
  readonly pass: (millis: number) => Promise<void>
}

const FINAL_WITHIN = 60_000
/** What is due later than this waits for a clock that was ahead: longer than any retry, or a claim. */
const SOON = LEASE + 5000
const AGAIN = 100

/** Waits until every delivery is final, nothing new coming in and the clock being right. */
export async function untilSettled(
  { unfinished }: Pick<CrashDatabase, 'unfinished'>,
  ledger: Ledger,
  jumping: Jumping | undefined,
): Promise<void> {
  const isLater = (due: number): boolean => due > Date.now() + SOON
  const left = await wait(unfinished, (due) => due.every(isLater))
  ledger.check('settled.all', left.every(isLater), () => said(left))
  if (jumping === undefined) return
  // What was put off by hours is not waited for, but for the hours.
  const later = Math.max(0, ...left) - Date.now()
  const ahead = jumping.ahead()
  ledger.check('clock.bounded', later <= ahead + SOON, () => {
    return `a delivery is due in ${later} ms, and the clock was ${ahead} ms ahead`
  })
  if (later <= 0) return
  await jumping.pass(later)
  const last = await wait(unfinished, (due) => due.length === 0)
  ledger.check('settled.all', last.length === 0, () => said(last))
}

/** Until what is left is enough, or for a minute; answers when each of it is due. */
async function wait(
  unfinished: CrashDatabase['unfinished'],
  isEnough: (due: readonly number[]) => boolean,
): Promise<readonly number[]> {
  const end = Date.now() + FINAL_WITHIN
  for (;;) {
    const left = await unfinished()
    if (isEnough(left) || Date.now() > end) return left
    await new Promise((resolve) => setTimeout(resolve, AGAIN))
  }
}

function said(due: readonly number[]): string {
  const first = Math.min(...due)
  return `${due.length} deliveries are not final, the first due at ${first}, now it is ${Date.now()}`
}

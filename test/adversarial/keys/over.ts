import type { Test } from 'tap'
import type { AskOver } from '../../support/protocols.ts'
import { speakOver } from '../../support/protocols.ts'
import type { Family } from '../../../daemon/operations/family.ts'
import { runRows } from '../run.ts'
import { KEYS } from '../table.ts'
import { CHECKS } from './checks.ts'
import { speakBy } from './world.ts'

/**
 * Runs rows of the table of keys with keys that ask over another protocol: each has the outcomes that it has over
 * REST, and asks at least once.
 *
 * @param omitted rows that are not run, with a reason
 * @param isRun which of the others are
 */
export async function runKeysOver(
  t: Test,
  over: (families: readonly Family[]) => AskOver,
  omitted: Readonly<Record<string, string>>,
  isRun: (id: string) => boolean,
): Promise<void> {
  let calls = 0
  let all = 0
  const before = speakBy((world, families) =>
    speakOver(world, over(families), () => {
      calls += 1
    }),
  )
  const rows = KEYS.rows.filter(({ id }) => !(id in omitted) && isRun(id))
  try {
    await runRows(t, { rows }, CHECKS, (t, { id }) => {
      t.ok(calls > 0, `${id} asks over the protocol`)
      all += calls
      calls = 0
    })
  } finally {
    // Other suites of this process ask over REST.
    speakBy(before)
  }
  t.comment(`${rows.length} of ${KEYS.rows.length} rows, ${all} calls`)
  for (const [id, reason] of Object.entries(omitted)) t.match(reason, /\w+ \w+ \w+/, id)
}

import t from 'tap'
import { judge } from './judge.ts'
import { JUDGED_TARGETS } from './rows/targets.ts'
import type { Check } from './run.ts'
import { runSection } from './run.ts'
import { DOOR_CHECKS } from './ssrf/doors.ts'
import { EXCHANGE_CHECKS } from './ssrf/exchanges.ts'
import { NAME_CHECKS } from './ssrf/names.ts'
import { ATTEMPTS, TARGETS } from './table.ts'

const targetChecks = JUDGED_TARGETS.map(({ id, url, dns, verdict }): [string, Check] => [
  id,
  async (t, saw) => {
    const judged = judge(url, dns)
    t.equal(judged, verdict)
    saw(judged)
  },
])

await runSection(t, TARGETS, Object.fromEntries(targetChecks))
await runSection(t, ATTEMPTS, { ...DOOR_CHECKS, ...EXCHANGE_CHECKS, ...NAME_CHECKS })

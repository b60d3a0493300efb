import t from 'tap'
import { CONNECTION_CHECKS } from './fairness/connections.ts'
import { KEEP_ALIVE_CHECKS } from './fairness/keep-alive.ts'
import { FAIRNESS } from './rows/fairness.ts'
import { runSection } from './run.ts'

await runSection(t, FAIRNESS, { ...CONNECTION_CHECKS, ...KEEP_ALIVE_CHECKS })

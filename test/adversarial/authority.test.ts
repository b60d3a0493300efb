import t from 'tap'
import { ORIGIN_CHECKS } from './authority/origins.ts'
import { RECEIVING_CHECKS } from './authority/receiving.ts'
import { AUTHORITY } from './rows/authority.ts'
import { runSection } from './run.ts'

await runSection(t, AUTHORITY, { ...RECEIVING_CHECKS, ...ORIGIN_CHECKS })

import t from 'tap'
import { CHECKS } from './keys/checks.ts'
import { runSection } from './run.ts'
import { KEYS } from './table.ts'

await runSection(t, KEYS, CHECKS)

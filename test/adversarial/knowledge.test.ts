import t from 'tap'
import { READ_CHECKS } from './knowledge/reads.ts'
import { REMOVAL_CHECKS } from './knowledge/removals.ts'
import { SEARCH_CHECKS } from './knowledge/searches.ts'
import { KNOWLEDGE } from './rows/knowledge.ts'
import { runSection } from './run.ts'

await runSection(t, KNOWLEDGE, { ...READ_CHECKS, ...SEARCH_CHECKS, ...REMOVAL_CHECKS })

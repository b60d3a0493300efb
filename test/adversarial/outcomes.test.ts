import t from 'tap'
import { NAME_CHECKS } from './outcomes/names.ts'
import { OUTCOMES } from './rows/outcomes.ts'
import { runSection } from './run.ts'

await runSection(t, OUTCOMES, { ...NAME_CHECKS })

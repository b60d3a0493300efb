import t from 'tap'
import { PROMPT_CHECKS } from './operators/prompts.ts'
import { SETTING_CHECKS } from './operators/settings.ts'
import { START_CHECKS } from './operators/start.ts'
import { runSection } from './run.ts'
import { OPERATORS } from './rows/operators.ts'

await runSection(t, OPERATORS, { ...PROMPT_CHECKS, ...SETTING_CHECKS, ...START_CHECKS })

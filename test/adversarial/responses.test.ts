import t from 'tap'
import { BODY_CHECKS } from './responses/bodies.ts'
import { CROWD_CHECKS } from './responses/crowds.ts'
import { HOLDING_CHECKS } from './responses/holding.ts'
import { PAGE_CHECKS } from './responses/pages.ts'
import { RECORD_CHECKS } from './responses/records.ts'
import { TYPE_CHECKS } from './responses/types.ts'
import { runSection } from './run.ts'
import { RESPONSES } from './rows/responses.ts'

await runSection(t, RESPONSES, {
  ...PAGE_CHECKS,
  ...TYPE_CHECKS,
  ...RECORD_CHECKS,
  ...HOLDING_CHECKS,
  ...BODY_CHECKS,
  ...CROWD_CHECKS,
})

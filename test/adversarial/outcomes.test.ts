import t from 'tap'
import { DELIVERY_CHECKS } from './outcomes/deliveries.ts'
import { NAME_CHECKS } from './outcomes/names.ts'
import { POSITION_CHECKS } from './outcomes/positions.ts'
import { RECORD_CHECKS } from './outcomes/records.ts'
import { ROTATION_LIMIT_CHECKS } from './outcomes/rotations.ts'
import { OUTCOMES } from './rows/outcomes.ts'
import { runSection } from './run.ts'

await runSection(t, OUTCOMES, {
  ...NAME_CHECKS,
  ...DELIVERY_CHECKS,
  ...ROTATION_LIMIT_CHECKS,
  ...RECORD_CHECKS,
  ...POSITION_CHECKS,
})

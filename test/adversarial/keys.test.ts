import t from 'tap'
import { ENDED_CHECKS } from './keys/ended.ts'
import { ENDING_CHECKS } from './keys/endings.ts'
import { EXPIRY_CHECKS } from './keys/expiry.ts'
import { PIN_CHECKS } from './keys/pins.ts'
import { PRESENTED_CHECKS } from './keys/presented.ts'
import { ROTATION_CHECKS } from './keys/rotation.ts'
import { SCOPE_CHECKS } from './keys/scopes.ts'
import { STRANGER_CHECKS } from './keys/strangers.ts'
import { SUPERSEDED_CHECKS } from './keys/superseded.ts'
import { runSection } from './run.ts'
import { KEYS } from './table.ts'

await runSection(t, KEYS, {
  ...SCOPE_CHECKS,
  ...PIN_CHECKS,
  ...EXPIRY_CHECKS,
  ...ROTATION_CHECKS,
  ...ENDING_CHECKS,
  ...STRANGER_CHECKS,
  ...ENDED_CHECKS,
  ...SUPERSEDED_CHECKS,
  ...PRESENTED_CHECKS,
})

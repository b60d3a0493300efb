import type { Checks } from '../run.ts'
import { ENDED_CHECKS } from './ended.ts'
import { ENDING_CHECKS } from './endings.ts'
import { EXPIRY_CHECKS } from './expiry.ts'
import { PIN_CHECKS } from './pins.ts'
import { PRESENTED_CHECKS } from './presented.ts'
import { ROTATION_CHECKS } from './rotation.ts'
import { SCOPE_CHECKS } from './scopes.ts'
import { STRANGER_CHECKS } from './strangers.ts'
import { SUPERSEDED_CHECKS } from './superseded.ts'

/** What carries out the rows of the table of keys. */
export const CHECKS: Checks = {
  ...SCOPE_CHECKS,
  ...PIN_CHECKS,
  ...EXPIRY_CHECKS,
  ...ROTATION_CHECKS,
  ...ENDING_CHECKS,
  ...STRANGER_CHECKS,
  ...ENDED_CHECKS,
  ...SUPERSEDED_CHECKS,
  ...PRESENTED_CHECKS,
}

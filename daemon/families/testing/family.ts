import { defineErrors } from '../../../lib/errors.ts'
import type { Family } from '../../operations/family.ts'
import { defineFamily } from '../../operations/family.ts'
import type { MovableClock } from '../../testing/clock.ts'
import { advanceClock } from './operations/advance-clock.ts'
import { resetAll } from './operations/reset.ts'

/** What the operations of a test act on. */
export interface TestControls {
  readonly clock: Pick<MovableClock, 'advance'>
  /** Opens the service anew, empty. */
  reset(): Promise<void>
}

/** The clock and the data of `keyhook serve --test`: no other daemon serves this family. */
export function createTestingFamily({ clock, reset }: TestControls): Family {
  return defineFamily({
    name: 'testing',
    scopes: {},
    events: [],
    errors: defineErrors({}),
    operations: [advanceClock(clock), resetAll(reset)],
  })
}

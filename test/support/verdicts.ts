import type { Verdict } from '../../lib/delivery/outcome.ts'

/** Every one there is. */
export const VERDICTS: readonly Verdict[] = ['succeeded', 'failed', 'gone', 'blocked']

/** When the tests of deliveries take place. */
export const NOW: number = Date.UTC(2026, 0, 1)

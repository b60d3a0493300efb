import type { Change } from '../../../lib/engine/changes.ts'

/** Where a unit of work notes what it changed of what caches hold. */
export interface ChangeSink {
  push(change: Change): unknown
}

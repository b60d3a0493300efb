import type { Change } from '../../../lib/engine/changes.ts'

/** Collects the changes of cached data that a unit of work made. */
export interface ChangeSink {
  push(change: Change): unknown
}

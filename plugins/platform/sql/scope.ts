import type { ChangeSink } from '../../store/contract/changes.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import type { JobWrites } from '../contract/jobs.ts'
import type { ModelRows } from '../model/sequelize.ts'
import type { PlatformTables } from './tables.ts'

/** What reads of a noun run on. */
export interface ReadScope {
  readonly query: Query
  readonly t: PlatformTables
  readonly dialect: Dialect
  /** Runs searches, which may take long. Default: `query`. */
  readonly search?: Query
}

/** What changes of a noun run on: one unit of work. */
export interface WriteScope extends ReadScope {
  readonly changes: ChangeSink
  readonly rows: ModelRows
  readonly jobs: JobWrites
}

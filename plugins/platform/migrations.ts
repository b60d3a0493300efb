import { apps } from './migrations/apps.ts'
import { bytes } from './migrations/bytes.ts'
import { deployments } from './migrations/deployments.ts'
import { edits } from './migrations/edits.ts'
import { files } from './migrations/files.ts'
import { jobs } from './migrations/jobs.ts'
import { observations } from './migrations/observations.ts'
import { settings } from './migrations/settings.ts'
import type { Migration } from '../store/sql/migrations/migration.ts'
import type { PlatformTables } from './sql/tables.ts'

/** In the order in which they were released, after all of the core's. */
export const PLATFORM_MIGRATIONS: readonly Migration<PlatformTables>[] = [
  apps,
  bytes,
  edits,
  files,
  deployments,
  settings,
  observations,
  jobs,
].flat()

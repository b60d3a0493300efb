import type { ChangeSink } from '../../store/contract/changes.ts'
import type { Query, SqlClient } from '../../store/sql/client.ts'
import { purge } from '../../store/sql/purge.ts'
import type { SqlStore } from '../../store/sql/store.ts'
import type {
  PlatformPurgeKind,
  PlatformReads,
  PlatformStore,
  PlatformWrites,
} from '../contract.ts'
import { PLATFORM_PURGE_KINDS } from '../contract.ts'
import type { Models } from '../model/sequelize.ts'
import { jobReads, jobWrites } from '../jobs/jobs.ts'
import { appReads, appWrites } from './apps.ts'
import { deploymentReads, deploymentWrites } from './deployments.ts'
import { domainReads, domainWrites } from './domains.ts'
import { editReads, editWrites } from './edits.ts'
import { fileReads, fileWrites } from './files.ts'
import { observationReads, observationWrites } from './observations.ts'
import { platformPurgesOf } from './purge.ts'
import { purgeRemoved } from './removed-files.ts'
import { serviceReads, serviceWrites } from './services.ts'
import { signInReads, signInWrites } from './sign-in.ts'
import type { PlatformTables } from './tables.ts'

/** The platform's nouns over the database of a core store, in that store's units of work. */
export function createPlatformStore(
  core: SqlStore,
  client: SqlClient,
  t: PlatformTables,
  models: Models,
): PlatformStore {
  const { dialect, read, search } = client
  const purges = platformPurgesOf(t)

  function readsOf(): PlatformReads {
    return {
      apps: appReads(read, t, dialect),
      deployments: deploymentReads(read, t, dialect),
      domains: domainReads(read, t),
      edits: editReads(read, t),
      files: fileReads(read, t, dialect, search),
      jobs: jobReads(read, t),
      observations: observationReads(read, t),
      services: serviceReads(read, t, dialect),
      signIn: signInReads(read, t),
    }
  }

  function writesOf(query: Query, changes: ChangeSink): PlatformWrites {
    const rows = models.rowsOn(query)
    const jobs = jobWrites(query, t, dialect)
    return {
      apps: appWrites(query, t, dialect, changes, rows),
      deployments: deploymentWrites(query, t, dialect, changes, rows, jobs),
      domains: domainWrites(query, t, dialect, changes, rows, jobs),
      edits: editWrites(query, t, rows, jobs),
      files: fileWrites(query, t, dialect, rows, jobs),
      jobs,
      observations: observationWrites(query, t, dialect, rows),
      services: serviceWrites(query, t, dialect, rows),
      signIn: signInWrites(query, t, changes),
    }
  }

  return {
    ...core,
    ...readsOf(),
    write: (work) =>
      core.unit(({ tx, query, changes }) => work({ ...tx, ...writesOf(query, changes) })),
    purge(kind, before, limit) {
      if (kind === 'removed_files') return purgeRemoved(client, t, limit)
      if (isPlatforms(kind)) return purge(client, purges[kind], before, limit)
      return core.purge(kind, before, limit)
    },
  }
}

function isPlatforms(kind: string): kind is Exclude<PlatformPurgeKind, 'removed_files'> {
  return PLATFORM_PURGE_KINDS.some((one) => one === kind)
}

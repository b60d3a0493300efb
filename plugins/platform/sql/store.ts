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
import { jobWrites } from '../jobs/jobs.ts'
import type { Noun } from '../nouns.ts'
import { NOUNS } from '../nouns.ts'
import { platformPurgesOf } from './purge.ts'
import { purgeRemoved } from './removed-files.ts'
import type { WriteScope } from './scope.ts'
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

  function scopeOf(query: Query, changes: ChangeSink): WriteScope {
    const reads = { query, t, dialect }
    return { ...reads, changes, rows: models.rowsOn(query), jobs: jobWrites(reads) }
  }

  return {
    ...core,
    ...(perNoun((noun) => noun.reads({ query: read, t, dialect, search })) as PlatformReads),
    write: (work) =>
      core.unit(({ tx, query, changes }) => {
        const scope = scopeOf(query, changes)
        return work({ ...tx, ...(perNoun((noun) => noun.writes(scope)) as PlatformWrites) })
      }),
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

/** What becomes of each noun, by its name. */
function perNoun(of: (noun: Noun) => object): object {
  return Object.fromEntries(Object.entries<Noun>(NOUNS).map(([name, noun]) => [name, of(noun)]))
}

import { KeyhookError } from '../../../lib/errors.ts'
import type { ChangeSink } from '../../store/contract/changes.ts'
import type { Query, SqlClient } from '../../store/sql/client.ts'
import { purge } from '../../store/sql/purge.ts'
import type { SqlStore, SqlUnit } from '../../store/sql/store.ts'
import type {
  PlatformPurgeKind,
  PlatformReads,
  PlatformStore,
  PlatformTx,
  PlatformWrites,
} from '../contract.ts'
import { PLATFORM_PURGE_KINDS } from '../contract.ts'
import type { Models } from '../model/sequelize.ts'
import { jobWrites } from '../jobs/jobs.ts'
import type { Noun } from '../nouns.ts'
import { NOUNS } from '../nouns.ts'
import { platformPurgesOf } from './purge.ts'
import { purgeRemoved } from './removed-files.ts'
import { recordAccess } from './records.ts'
import type { WriteScope } from './scope.ts'
import type { PlatformTables } from './tables.ts'

/** The platform's nouns over the database of a core store, in that store's units of work. */
export function createPlatformStore(
  core: SqlStore,
  client: SqlClient,
  t: PlatformTables,
  models: Models,
  tablePrefix: string,
): PlatformStore {
  const { dialect, read, search } = client
  const purges = platformPurgesOf(t)

  function scopeOf(query: Query, changes: ChangeSink): WriteScope {
    const reads = { query, t, dialect }
    return { ...reads, changes, rows: models.rowsOn(query), jobs: jobWrites(reads) }
  }

  function unitOf({ tx, query, changes }: SqlUnit): PlatformTx {
    const scope = scopeOf(query, changes)
    return {
      ...tx,
      ...(perNoun((noun) => noun.writes(scope)) as PlatformWrites),
      ...recordAccess(query, dialect, tablePrefix),
      atomically: (work) => atomically(query, work),
    }
  }

  return {
    ...core,
    ...(perNoun((noun) => noun.reads({ query: read, t, dialect, search })) as PlatformReads),
    ...recordAccess(read, dialect, tablePrefix),
    write: (work, options) => core.unit((unit) => work(unitOf(unit)), options),
    join(transaction) {
      const { unit, committed } = core.joinUnit(transaction)
      return { tx: unitOf(unit), committed }
    },
    purge(kind, before, limit) {
      if (kind === 'removed_files') return purgeRemoved(client, t, limit)
      if (isPlatforms(kind)) return purge(client, purges[kind], before, limit)
      return core.purge(kind, before, limit)
    },
  }
}

async function atomically<T>(query: Query, work: () => Promise<T>): Promise<T> {
  await query('SAVEPOINT keyhook_part')
  let result: T
  try {
    result = await work()
  } catch (cause) {
    // Where this fails, the transaction has ended, or can only be rolled back.
    await undo(query, isRefusal(cause)).catch(() => undefined)
    throw cause
  }
  await query('RELEASE SAVEPOINT keyhook_part')
  return result
}

async function undo(query: Query, isKept: boolean): Promise<void> {
  if (!isKept) await query('ROLLBACK TO SAVEPOINT keyhook_part')
  await query('RELEASE SAVEPOINT keyhook_part')
}

/** Nothing went wrong in the database. What others did in the transaction meanwhile must stay. */
function isRefusal(cause: unknown): boolean {
  return cause instanceof KeyhookError && cause.status < 500
}

function isPlatforms(kind: string): kind is Exclude<PlatformPurgeKind, 'removed_files'> {
  return PLATFORM_PURGE_KINDS.some((one) => one === kind)
}

/** What becomes of each noun, by its name. */
function perNoun(of: (noun: Noun) => object): object {
  return Object.fromEntries(Object.entries<Noun>(NOUNS).map(([name, noun]) => [name, of(noun)]))
}

import type { Clock } from '../../lib/engine/ports.ts'
import type { AppBytes } from './contract.ts'
import { find, listApps, listRows, readPart, readWhole } from './database/read.ts'
import { dropAll, removeAll, sweep } from './database/remove.ts'
import type { BytesDatabase } from './database/tables.ts'
import { tablesOf } from './database/tables.ts'
import { put } from './database/write.ts'
import { requireAppId, requireDigest, requireRange, verified } from './intake.ts'

export type { BytesDatabase } from './database/tables.ts'

export interface DatabaseBytesOptions {
  /** The SQL store's client; it is not closed. */
  readonly client: BytesDatabase
  /** The store's. Default `keyhook_`. */
  readonly tablePrefix?: string
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Opens the SQL store's database as storage of app bytes, for several daemons without a shared folder.
 *
 * Bytes are stored in chunks of 256 KiB, each written and read by itself, so that only `get` holds a whole file
 * in memory. The store's migrations create the tables.
 *
 * @throws TypeError for a prefix that could not be a name
 * @throws KeyhookError `unavailable` when the database cannot be used
 */
export async function openDatabaseBytes({
  client,
  tablePrefix = 'keyhook_',
  clock,
}: DatabaseBytesOptions): Promise<AppBytes> {
  const t = tablesOf(client, tablePrefix)
  await sweep(t, clock)
  return {
    // A SQLite file is used by one process.
    manyProcesses: client.dialect.name === 'postgres',
    async put(appId, bytes, options) {
      requireAppId(appId)
      return put(t, clock, appId, bytes, options)
    },
    async get(appId, sha256) {
      requireAppId(appId)
      requireDigest(sha256)
      return readWhole(t, appId, sha256)
    },
    async open(appId, sha256, range) {
      requireAppId(appId)
      requireDigest(sha256)
      requireRange(range)
      if ((await find(t, appId, sha256)) === undefined) return undefined
      const chunks = readPart(t, appId, sha256, range)
      return range === undefined ? verified(sha256, chunks) : chunks
    },
    async *list(appId) {
      requireAppId(appId)
      await sweep(t, clock)
      yield* listRows(t, appId)
    },
    async remove(appId, sha256s, keptBefore) {
      requireAppId(appId)
      sha256s.forEach(requireDigest)
      return removeAll(t, appId, sha256s, keptBefore)
    },
    async drop(appId) {
      requireAppId(appId)
      await dropAll(t, appId)
    },
    apps: () => listApps(t),
    close: async () => undefined,
  }
}

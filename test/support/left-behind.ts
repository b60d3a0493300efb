import { join } from 'node:path'
import { collectGarbage } from '../../daemon/families/apps/garbage-collection.ts'
import { HOUR } from '../../lib/time.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { APP_BYTES, openDatabase } from '../../plugins/registry.ts'
import { disagreements } from '../platform/job-subjects.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'

/** What a daemon that has ended left in its database and beside it. */
export interface LeftBehind {
  readonly store: PlatformStore
  readonly bytes: AppBytes
  /** Subjects that are open without a job, and jobs without a subject that is open. */
  disagreements(): Promise<readonly string[]>
  close(): Promise<void>
}

/** @param url of a database on a server; undefined for the file in the data folder */
export async function openLeftBehind(data: string, url: string | undefined): Promise<LeftBehind> {
  const { store, client } = await openDatabase(url ?? join(data, 'keyhook.db'))
  const clock = { now: Date.now }
  const bytes =
    url === undefined
      ? await APP_BYTES.disk({ folder: join(data, 'apps'), clock })
      : await APP_BYTES.database({ client, clock })
  return {
    store,
    bytes,
    disagreements: () => disagreements(client, 'keyhook_'),
    async close() {
      await bytes.close()
      await store.close()
    },
  }
}

/** What lies there and is named by nothing, once a round of collection has passed. */
export async function orphans({ store, bytes }: LeftBehind): Promise<readonly string[]> {
  await collectGarbage(store, bytes, Date.now() + 2 * HOUR)
  const left: string[] = []
  const again = await collectGarbage(store, bytes, Date.now() + 2 * HOUR)
  if (again.bytes > 0) left.push(`${again.bytes} more`)
  for await (const app of bytes.apps()) {
    if (!(await store.apps.exists(app))) left.push(app)
  }
  return left
}

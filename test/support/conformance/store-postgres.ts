import pg from 'pg'
import type { Store } from '../../../plugins/store/contract.ts'
import { openStore } from '../../../plugins/store/open.ts'

/** Opens the store of a database: what the conformance suite calls in another process. */
export async function open(url: string): Promise<Store> {
  const pool = new pg.Pool({ connectionString: url })
  return (await openStore(pool, { tablePrefix: '' })).store
}

import type { Store } from '../../../plugins/store/contract.ts'
import { openSqliteStore } from '../../../plugins/store/open.ts'

/** Opens the store in a file: what the conformance suite calls in another process. */
export async function open(file: string): Promise<Store> {
  return (await openSqliteStore(file)).store
}

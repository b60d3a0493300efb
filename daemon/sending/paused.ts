import type { AccountReads } from '../../plugins/store/contract/accounts.ts'

/** Name of the row that holds deliveries back, in every process of a restored database. Its value is an id. */
export const SENDING_PAUSED = 'sending_paused'

/** Name of the row that ends the pause with an id. */
export function resumedName(id: string): string {
  return `sending_resumed:${id}`
}

export interface PauseReads {
  readonly accounts: Pick<AccountReads, 'meta'>
}

/** Id of the pause that holds deliveries back; undefined when they are sent. */
export async function findPause({ accounts }: PauseReads): Promise<string | undefined> {
  const id = await accounts.meta(SENDING_PAUSED)
  if (id === undefined || (await accounts.meta(resumedName(id))) !== undefined) return undefined
  return id
}

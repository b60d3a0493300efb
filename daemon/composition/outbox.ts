import { resolve } from 'node:path'
import type { OutboxSource } from '../../plugins/outbox/contract.ts'
import { MAX_COUNTED } from '../../plugins/outbox/contract.ts'
import { identityOf } from '../../plugins/outbox/contract/file-identity.ts'
import { OUTBOXES, isPostgresUrl } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'

/** The database of an address as `KEYHOOK_OUTBOX_URL` parses it. */
export function outboxDialect(address: string): keyof typeof OUTBOXES {
  return isPostgresUrl(address) ? 'postgres' : 'sqlite'
}

/**
 * Opens the outbox at an address.
 *
 * @throws Error when it cannot be reached, or its table cannot be used
 */
export function openOutbox(address: string): Promise<OutboxSource> {
  return OUTBOXES[outboxDialect(address)](address)
}

/**
 * Refuses an outbox in Keyhook's own SQLite file, which has one writer.
 *
 * @param file path of that file
 * @throws ConfigError
 */
export async function requireOwnOutbox(
  { outboxUrl }: Pick<Config, 'outboxUrl'>,
  file: string,
): Promise<void> {
  if (outboxUrl === undefined || outboxDialect(outboxUrl) !== 'sqlite') return
  const [own, outbox] = await Promise.all([file, outboxUrl].map(identityOrPath))
  if (own !== outbox) return
  throw new ConfigError(
    'KEYHOOK_OUTBOX_URL must be the SQLite file of your backend, not that of Keyhook, which has one writer',
  )
}

/** A file that is not there yet has its path alone. */
function identityOrPath(file: string): Promise<string> {
  return identityOf(file).catch(() => resolve(file))
}

/**
 * Says what an outbox contains.
 *
 * @throws Error that names the remedy when it cannot be used, or keeps refused rows
 */
export async function examineOutbox(address: string): Promise<{ readonly detail: string }> {
  const source = await openOutbox(address)
  try {
    const { waiting, refused } = await source.count()
    const shown = (count: number): string =>
      count >= MAX_COUNTED ? `${count} or more` : `${count}`
    if (refused > 0) {
      throw new Error(
        `${shown(refused)} refused rows are kept: see their refused_code and refused_reason`,
      )
    }
    return { detail: `its table can be used, ${shown(waiting)} rows wait` }
  } finally {
    await source.close()
  }
}

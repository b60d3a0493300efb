import { KeyhookError } from '../../../../lib/errors.ts'
import type { PgClient, PgSource } from './source.ts'
import { asReason } from './statement.ts'

/**
 * Lends a connection to `work`; one that broke, or was left unclear, is never used again.
 *
 * @throws KeyhookError `unavailable` when there is none
 */
export async function lend<T>(
  source: PgSource,
  work: (client: PgClient) => Promise<T>,
): Promise<T> {
  const { client, giveBack } = await source.borrow().catch((cause: unknown) => {
    throw asReason(cause)
  })
  let broken: Error | undefined
  // A connection may break while nothing is asked of it; unheard, that would end the process.
  const note = (cause?: Error): void => {
    broken = cause
  }
  client.on('error', note)
  try {
    return await work(client)
  } catch (cause) {
    if (cause instanceof KeyhookError && cause.code === 'unavailable') broken ??= cause
    throw cause
  } finally {
    giveBack(broken)
    client.off('error', note)
  }
}

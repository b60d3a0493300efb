import { KeyhookError } from '../../../../lib/errors.ts'
import type { PgClient, PgSource } from './source.ts'
import { asReason } from './statement.ts'

/**
 * Runs `work` with a connection from the pool. A connection that broke or is in an unknown state is not
 * used again.
 *
 * @throws KeyhookError `unavailable` when there is no connection
 */
export async function withConnection<T>(
  source: PgSource,
  work: (client: PgClient) => Promise<T>,
): Promise<T> {
  const { client, release } = await source.acquire().catch((cause: unknown) => {
    throw asReason(cause)
  })
  let broken: Error | undefined
  // A connection may break between queries. Without a listener that would end the process.
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
    release(broken)
    client.off('error', note)
  }
}

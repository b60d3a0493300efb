import type { Child } from './child.ts'
import type { Place } from './place.ts'
import { addFinished } from './finished.ts'
import { TYPE } from './payload.ts'
import type { BenchWebhook } from './webhooks.ts'

/** What a place holds before it is measured: made once, copied for each round. */
export interface Stock {
  readonly name: string
  /** Deliveries that wait to be sent. */
  readonly pending: number
  /** Webhooks they are spread over, each an account's and origin's of its own. */
  readonly webhooks: number
  /** Deliveries that have succeeded. */
  readonly finished: number
  /** Passages of files, all in one app of the account `acc_0`; default none. */
  readonly passages?: number
  /** Entries of the ledger of the account `acc_0`; default none. */
  readonly entries?: number
}

/** A backlog for one webhook. */
export function backlogOf(pending: number): Stock {
  return { name: `backlog of ${pending}`, pending, webhooks: 1, finished: 0 }
}

/** Fills a place that nobody uses. */
export async function fillPlace(
  engine: Child,
  place: Place,
  stock: Stock,
  origins: readonly string[],
): Promise<void> {
  const webhooks: readonly BenchWebhook[] = origins.map((origin, index) => ({
    account: `acc_${index}`,
    type: TYPE,
    url: `${origin}/in`,
  }))
  await engine.call('open', place.env)
  const ids = await engine.call<readonly string[]>('webhooks', webhooks)
  await engine.call('fill', { webhooks, count: stock.pending })
  if (stock.passages !== undefined) await engine.call('passages', stock.passages)
  if (stock.entries !== undefined) await engine.call('entries', stock.entries)
  await engine.call('close')
  const [id] = ids
  if (stock.finished > 0 && id !== undefined) {
    await addFinished(place.file, { webhook: id, account: 'acc_0', count: stock.finished })
  }
}

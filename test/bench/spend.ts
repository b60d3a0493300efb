import { DAY } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { SPENDER } from './ledger.ts'

const PRICE = { price_micros: 100, per: 1, minimum_micros: 0 }

/**
 * Holds the price of a prompt and captures it, each in a unit of its own.
 *
 * @param between is called when it is held
 */
export async function spendOnce(
  store: PlatformStore,
  id: string,
  between: () => Promise<void> = async () => undefined,
): Promise<void> {
  const at = Date.now()
  const work = { account_id: SPENDER, operation_id: id }
  const outcome = await store.write((tx) =>
    tx.ledger.hold(
      [
        {
          ...work,
          id,
          operation: 'edits.create',
          meter: 'edits',
          quantity: 1,
          app_id: 'app_1',
          key_id: null,
          amount: PRICE.price_micros,
          price_version: 'v1',
          price: PRICE,
          deadline_at: at + DAY,
          actor: { type: 'operator', id: null },
          now: at,
        },
      ],
      [],
    ),
  )
  if (!outcome.held) throw new Error('the credit is used up')
  await between()
  const charge = { amount: PRICE.price_micros, quantity: 1 }
  await store.write((tx) => tx.ledger.capture(work, () => charge, at))
}

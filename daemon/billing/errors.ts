import type { KeyhookError } from '../../lib/errors.ts'
import { toIso } from '../../lib/time.ts'
import type { Micros, SpendingLimit } from '../../plugins/platform/contract/ledger.ts'
import { httpError } from '../operations/errors.ts'

interface Shortage extends SpendingLimit {
  readonly operation: string
  readonly required: Micros
  readonly currency: string
  /** Null: it is not shown to the caller. */
  readonly debt: Micros | null
}

const MESSAGES: Readonly<Record<SpendingLimit['source'], string | undefined>> = {
  wallet: undefined,
  account: 'The account has a debt, which the next credit pays. Nothing can be spent until then.',
  key: 'The monthly budget of the key is too low for this, or that of a key above it.',
}

/** The error of work that costs more than is available. */
export function insufficientBalance(shortage: Shortage): KeyhookError {
  const { operation, required, available, currency, source, key_id, debt, resets_at } = shortage
  const message = MESSAGES[source]
  return httpError('insufficient_balance', {
    ...(message === undefined ? {} : { message }),
    details: {
      operation,
      required_micros: required,
      available_micros: available,
      currency,
      source,
      ...(source === 'account' && debt !== null ? { debt_micros: debt } : {}),
      ...(source === 'key' && key_id !== null ? { key_id } : {}),
      ...(resets_at === null ? {} : { resets_at: toIso(resets_at) }),
    },
  })
}

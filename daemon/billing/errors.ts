import type { KeyhookError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import { toIso } from '../../lib/time.ts'
import type { Micros } from '../../plugins/platform/contract/ledger.ts'
import { httpError } from '../operations/errors.ts'

/** Whose limit refuses: the balance, a debt of the account, or the monthly budget of a key. */
export type LimitSource = 'wallet' | 'account' | 'key'

interface Shortage {
  readonly operation: string
  readonly required: Micros
  readonly available: Micros
  readonly currency: string
  readonly source: LimitSource
  readonly key_id: string | null
  readonly debt: Micros
  readonly resets_at: Instant | null
}

const MESSAGES: Readonly<Record<LimitSource, string | undefined>> = {
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
      ...(source === 'account' ? { debt_micros: debt } : {}),
      ...(source === 'key' ? { key_id } : {}),
      ...(resets_at === null ? {} : { resets_at: toIso(resets_at) }),
    },
  })
}

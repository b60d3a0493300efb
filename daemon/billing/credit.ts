import type { Instant } from '../../lib/time.ts'
import type { Micros, Posted } from '../../plugins/platform/contract/ledger.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { Creator } from '../../lib/key/record.ts'
import type { Platform } from '../platform.ts'
import { publishCredited } from './events.ts'

export interface Grant {
  readonly account_id: string
  readonly amount: Micros
  readonly expires_at: Instant | null
  readonly note: string | null
  readonly by: Creator
  readonly now: Instant
}

/** Grants credit and publishes it, in one unit. */
export async function grantCredit(
  { engine, newId }: Pick<Platform, 'engine' | 'newId'>,
  tx: PlatformTx,
  currency: string,
  { by, ...grant }: Grant,
): Promise<Posted> {
  const { expires_at, now } = grant
  const kind = 'grant'
  const posted = await tx.ledger.credit({
    ...grant,
    currency,
    kind,
    origin_id: newId(),
    from_processor: 0,
    actor: by,
  })
  if (posted === undefined) throw new TypeError('a new grant was posted before')
  await publishCredited(engine, tx, posted, { kind, currency, expires_at, now })
  return posted
}

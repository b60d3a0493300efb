/**
 * Where every record is kept: one store, one unit of work.
 *
 * What changes together commits together: state, outbox event, idempotency record and audit row.
 * Methods are atomic verbs; each says who wins a race and what the loser sees. An implementation
 * proves itself with `conformance`.
 *
 * @module
 */
import type { EngineStore, EngineTx } from '../../lib/engine/ports.ts'
import type { AccountReads, AccountWrites } from './contract/accounts.ts'
import type { DeliveryReads, DeliveryWrites } from './contract/deliveries.ts'
import type { EventReads, EventWrites } from './contract/events.ts'
import type { KeyReads, KeyWrites } from './contract/keys.ts'
import type { RequestReads, RequestWrites } from './contract/requests.ts'
import type { WebhookReads, WebhookWrites } from './contract/webhooks.ts'

/** One unit of work: everything done through it commits or rolls back together. */
export interface StoreTx extends EngineTx {
  readonly accounts: AccountWrites
  readonly keys: KeyWrites
  readonly webhooks: WebhookWrites
  readonly events: EventWrites
  readonly deliveries: DeliveryWrites
  readonly requests: RequestWrites
}

export interface Store extends Omit<EngineStore, 'write'> {
  readonly accounts: AccountReads
  readonly keys: KeyReads
  readonly webhooks: WebhookReads
  readonly events: EventReads
  readonly deliveries: DeliveryReads
  readonly requests: RequestReads

  /**
   * Runs `work` as one unit: commits when it resolves, rolls back when it rejects.
   *
   * Units are as if one after another. Keep them short: no network, no password hashing inside.
   *
   * @throws KeyhookError `unavailable` when it cannot be known whether it committed
   */
  write<T>(work: (tx: StoreTx) => Promise<T>): Promise<T>

  /** Resolves when the store can write; rejects when it cannot. */
  ping(): Promise<void>
  close(): Promise<void>

  /**
   * Several processes may share this store. Default `false`: the daemon then locks the data folder
   * and refuses to split its roles.
   */
  readonly manyProcesses?: boolean
}

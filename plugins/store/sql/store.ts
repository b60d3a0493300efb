import type { Change } from '../../../lib/engine/changes.ts'
import type { WriteOptions } from '../../../lib/engine/ports.ts'
import type { ConnectionUse, StoreTx, Store } from '../contract.ts'
import type { ChangeSink } from '../contract/changes.ts'
import { accountReads, accountWrites } from './accounts.ts'
import type { Query, SqlClient } from './client.ts'
import { countUnfinished, deliveryReads, deliveryWrites } from './deliveries.ts'
import { dispatchStore } from './dispatch.ts'
import { eventReads, eventWrites, insertGroup } from './events.ts'
import { keyReads, keyWrites } from './keys.ts'
import { purge, purgesOf } from './purge.ts'
import { requestReads, requestWrites } from './requests.ts'
import type { EncryptedColumns } from './encrypted-secrets.ts'
import { encryptedSecretReads, encryptedSecretWrites } from './encrypted-secrets.ts'
import type { Tables } from './tables.ts'
import { webhookReads, webhookWrites } from './webhooks.ts'

/** Who joins a transaction of somebody else's publishes and charges; what caches hold is changed in units alone. */
const REFUSED: ChangeSink = {
  push() {
    throw new TypeError(
      'inside a transaction of your own nothing but publishing and charging is possible',
    )
  },
}

/** One unit of work with its connection, for tables that are kept beside the core's. */
export interface SqlUnit {
  readonly tx: StoreTx
  readonly query: Query
  readonly changes: ChangeSink
}

/** What operators see of a store. */
export interface StoreMeasures {
  /**
   * The number of unfinished deliveries, of all accounts: waiting, being sent, or to be tried again.
   *
   * @param most maximum that is counted, so that a backlog costs no more
   */
  countUnfinished(most: number): Promise<number>
  /** The use of its connections, read without waiting; undefined where it is not known. */
  connectionUse(): ConnectionUse | undefined
}

export interface SqlStore extends Store, StoreMeasures {
  /** As `write`, for whoever keeps tables of their own in the same database. */
  unit<T>(work: (unit: SqlUnit) => Promise<T>, options?: WriteOptions): Promise<T>
  /** As `join`, for the same. */
  joinUnit(transaction: unknown): JoinedSqlUnit
}

export interface JoinedSqlUnit {
  readonly unit: SqlUnit
  committed(): void
}

/**
 * The store over a SQL database whose schema is up to date.
 *
 * @param encrypted columns of tables beside the core's that hold encrypted texts
 */
export function createSqlStore(
  client: SqlClient,
  t: Tables,
  encrypted: EncryptedColumns = {},
): SqlStore {
  const { dialect, read } = client
  const purges = purgesOf(t)
  const { webhooksOf, ...webhooks } = webhookReads(read, t, dialect)
  const reads = {
    accounts: accountReads(read, t),
    keys: keyReads(read, t, dialect),
    webhooks,
    events: eventReads(read, t, dialect),
    deliveries: deliveryReads(read, t, dialect),
    requests: requestReads(read, t),
    encryptedSecrets: encryptedSecretReads(read, t, dialect, encrypted),
  }

  function unitOfWork(query: Query, changes: ChangeSink, afterCommit: (() => void)[]): StoreTx {
    const { webhooksOf, disableWebhook, markFailing, ...webhooks } = webhookWrites(
      query,
      t,
      dialect,
      changes,
    )
    return {
      accounts: accountWrites(query, t, changes),
      keys: keyWrites(query, t, dialect, changes),
      webhooks,
      events: eventWrites(query, t, dialect, changes),
      deliveries: deliveryWrites(query, t, dialect),
      requests: requestWrites(query, t),
      encryptedSecrets: encryptedSecretWrites(query, t, dialect, encrypted),
      webhooksOf,
      insertPublished: (group) => insertGroup(query, t, dialect, group),
      disableWebhook,
      markFailing,
      afterCommit(run) {
        afterCommit.push(run)
      },
    }
  }

  function unit<T>(work: (unit: SqlUnit) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    const afterCommit: (() => void)[] = []
    const changes: Change[] = []
    return client.transaction(
      (query) => work({ tx: unitOfWork(query, changes, afterCommit), query, changes }),
      {
        ...options,
        changes: () => changes,
        committed() {
          for (const run of afterCommit) run()
        },
      },
    )
  }

  function joinUnit(transaction: unknown): JoinedSqlUnit {
    const afterCommit: (() => void)[] = []
    const query = client.join(transaction)
    return {
      unit: { tx: unitOfWork(query, REFUSED, afterCommit), query, changes: REFUSED },
      committed() {
        for (const run of afterCommit.splice(0)) run()
      },
    }
  }

  return {
    ...reads,
    ...dispatchStore(client, t),
    webhooksOf,
    publish: (build) =>
      client.exclusive('publish', (statement) => insertGroup(statement, t, dialect, build())),
    countUnfinished: (most) => countUnfinished(read, t, most),
    connectionUse: () => client.connectionUse?.(),
    unit,
    write: (work, options) => unit(({ tx }) => work(tx), options),
    purge: (kind, before, limit) => purge(client, purges[kind], before, limit),
    joinUnit,
    join(transaction) {
      const { unit, committed } = joinUnit(transaction)
      return { tx: unit.tx, committed }
    },
    changes: client.changes,
    claimant: client.claimant,
    ...(client.now && { now: client.now }),
    ...(client.announce && { announce: client.announce }),
    ...(client.onSilence && { onSilence: client.onSilence }),
    manyProcesses: client.watch !== undefined,
    ...(client.watch && { watch: client.watch }),
    ...(client.hold && { hold: client.hold }),
    async ping() {
      await client.exclusive('ping', (statement) =>
        statement(
          `INSERT INTO ${t.meta} (name, value) VALUES ('ping', $1)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
          [String(Date.now())],
        ),
      )
    },
    close: () => client.close(),
  }
}

import { join } from 'node:path'
import type { DeliveryStatus } from '../../lib/delivery/state.ts'
import type { Engine, EngineOptions } from '../../lib/engine/engine.ts'
import { createEngine } from '../../lib/engine/engine.ts'
import type { Keyring } from '../../lib/engine/keyring.ts'
import { createKeyring } from '../../lib/engine/keyring.ts'
import type {
  ClaimedDelivery,
  DeliveryRecord,
  EngineStore,
  NewEvent,
  PublishOutcome,
} from '../../lib/engine/ports.ts'
import { secretAad } from '../../lib/engine/targets.ts'
import { HOUR, SECOND } from '../../lib/time.ts'
import { brandNames } from '../../lib/webhook/headers.ts'
import type { WebhookRecord } from '../../lib/webhook/record.ts'
import { createdOrigin } from '../../lib/webhook/origin.ts'
import { mintSecret } from '../../lib/webhook/secret.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { InspectedDelivery } from '../../plugins/store/contract/deliveries.ts'
import { coreSteps, migrate } from '../../plugins/store/sql/migrate.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { createSqlStore } from '../../plugins/store/sql/store.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import type { VirtualClock } from './clock.ts'
import { createClock, turn } from './clock.ts'
import type { FakeSender } from './sender.ts'
import { createSender } from './sender.ts'
import type { WatchedStore } from './watched-store.ts'
import { watchStore } from './watched-store.ts'

export const START = 1_700_000_000_000
export const ACCOUNT = 'acc_1'
const EVENT_TYPE = 'order.paid'
const LIMIT_MS = 20 * SECOND

/** Ids that sort by their making. */
export function countingIds(): () => string {
  let made = 0
  return () => `id${String((made += 1)).padStart(10, '0')}`
}

/** No jitter from single bytes; distinct bytes else, so that event ids differ. */
export function countingRandom(): (length: number) => Uint8Array {
  let asked = 0
  return (length) => {
    const bytes = new Uint8Array(length)
    if (length < 4) return bytes
    new DataView(bytes.buffer).setUint32(length - 4, (asked += 1))
    return bytes
  }
}

/** A first attempt that is claimed, numbered among those of its webhook. */
export function claimedOf(
  webhookId: string,
  at: number,
  changes: Partial<DeliveryRecord> = {},
): ClaimedDelivery {
  const delivery: DeliveryRecord = {
    id: `${webhookId}-${String(at).padStart(6, '0')}`,
    account_id: 'acc',
    webhook_id: webhookId,
    event_id: 'evt_1',
    event_type: EVENT_TYPE,
    app_id: null,
    status: 'delivering',
    attempts: 0,
    automatic: 0,
    trigger: 'event',
    next_at: 1_000_000,
    end_reason: null,
    created_at: 0,
    done_at: null,
    claim: 'c',
    ...changes,
  }
  return { delivery, body: new Uint8Array() }
}

/** An engine on SQLite in a folder of its own, under a virtual clock, before its start. */
export interface Bench {
  readonly store: Store
  readonly watched: WatchedStore
  readonly clock: VirtualClock
  readonly sender: FakeSender
  readonly engine: Engine
  readonly keyring: Keyring
  readonly newId: () => string
  event(type?: string, accountId?: string): NewEvent
  /** Publishes events for `order.paid` in as many concurrent calls. */
  publish(count: number): Promise<readonly PublishOutcome[]>
  /** An active webhook at `https://<name>.test/` for `order.paid`. */
  plainWebhook(name: string): WebhookRecord
  /** Empties every cache. */
  forget(): void
  addWebhook(name: string, changes?: Partial<WebhookRecord>): Promise<WebhookRecord>
  webhook(id: string): Promise<WebhookRecord | undefined>
  /** Every delivery to a webhook, oldest first. */
  deliveries(webhookId: string): Promise<readonly InspectedDelivery[]>
  statuses(webhookId: string): Promise<Partial<Record<DeliveryStatus, number>>>
  /** Another engine on the same store and network, with some of the store's verbs replaced. */
  rebuild(verbs: Partial<EngineStore>): Engine
  /** Resolves when neither the store nor an answer of the network is under way. */
  quiet(): Promise<void>
}

export type BenchOptions = Partial<
  Pick<EngineOptions, 'schedule' | 'disabling' | 'limits' | 'timeout' | 'lease' | 'events'>
>

const DEFAULTS = {
  schedule: [5 * SECOND, 300 * SECOND],
  disabling: { failures: 20, span: 24 * HOUR },
  limits: { total: 64, perWebhook: 8 },
  timeout: 10 * SECOND,
}

interface TestFolder {
  testdir(): string
  teardown(run: () => Promise<void>): void
}

export async function createBench(t: TestFolder, options: BenchOptions = {}): Promise<Bench> {
  const tables = nameTables('keyhook_')
  const client = await openSqlite(join(t.testdir(), 'bench.db'))
  await migrate(client, tables, coreSteps(tables))
  const store = createSqlStore(client, tables)
  const watched = watchStore(store)
  const sender = createSender()
  const isQuiet = (): boolean => watched.underWay === 0 && sender.underWay === sender.held
  const quiet = (): Promise<void> => untilStill(isQuiet)
  const clock = createClock(START, quiet)
  const newId = countingIds()
  const random = countingRandom()
  const keyring = createKeyring([{ id: 'k1', key: new Uint8Array(32).fill(7) }], random)
  const names = brandNames('service')
  const ports = { sender, clock, random, newId, keyring, names }
  const build = (verbs: Partial<EngineStore>): Engine =>
    createEngine({ ...ports, ...DEFAULTS, ...options, store: { ...watched.store, ...verbs } })
  const engine = build({})
  const engines = [engine]
  t.teardown(async () => {
    watched.before.settle = () => undefined
    sender.letGo()
    for (const { dispatcher } of engines) await dispatcher.stop()
    await store.close()
  })

  async function list(webhookId: string): Promise<readonly InspectedDelivery[]> {
    const filter = { status: null, event_type: null, event_id: null, apps: null }
    const place = { account_id: ACCOUNT, webhook_id: webhookId }
    const page = await store.deliveries.list({ ...place, ...filter, limit: 10_000, after: null })
    return page.rows.toReversed()
  }

  const event: Bench['event'] = (type = EVENT_TYPE, accountId = ACCOUNT) =>
    engine.newEvent(accountId, type, { n: 1 })
  const plain = (name: string): WebhookRecord => ({
    ...plainWebhook(newId, keyring, random),
    url: `https://${name}.test/`,
  })

  return {
    store,
    watched,
    clock,
    sender,
    engine,
    keyring,
    newId,
    event,
    async publish(count) {
      const calls = Array.from({ length: count }, () => engine.outbox.publish([event()]))
      return (await Promise.all(calls)).flat()
    },
    plainWebhook: plain,
    forget() {
      void client.changes.emit('all')
    },
    async addWebhook(name, changes = {}) {
      const webhook = { ...plain(name), ...changes }
      await store.write((tx) => tx.webhooks.insert(webhook))
      return webhook
    },
    webhook: (id) => store.webhooks.get(ACCOUNT, id),
    deliveries: list,
    async statuses(webhookId) {
      const counts: Partial<Record<DeliveryStatus, number>> = {}
      for (const { delivery } of await list(webhookId)) {
        counts[delivery.status] = (counts[delivery.status] ?? 0) + 1
      }
      return counts
    },
    rebuild(verbs) {
      const other = build(verbs)
      engines.push(other)
      return other
    },
    quiet,
  }
}

export function plainWebhook(
  newId: () => string,
  keyring: Keyring,
  random: (length: number) => Uint8Array,
): WebhookRecord {
  const secret = { id: newId(), display: 'whsec_x…', created_at: START, not_after: null }
  const encrypted = keyring.encrypt(mintSecret(random), secretAad(secret.id))
  return {
    id: newId(),
    account_id: ACCOUNT,
    url: '',
    events: [EVENT_TYPE],
    description: null,
    apps: null,
    status: 'active',
    disabled_reason: null,
    disabled_at: null,
    consecutive_failures: 0,
    first_failure_at: null,
    failing_at: null,
    standard_headers: false,
    trace_headers: false,
    headers: null,
    rate_limit: null,
    concurrency: null,
    last_success_at: null,
    last_delivery_at: null,
    created_by: { type: 'operator', id: null },
    created_at: START,
    updated_at: START,
    ...createdOrigin({ type: 'operator', id: null }, START),
    secrets: [{ ...secret, encrypted }],
  }
}

/** True for several turns on end: what is under way between two calls has then gone on. */
async function untilStill(isStill: () => boolean): Promise<void> {
  let still = 0
  await untilTrue(() => {
    still = isStill() ? still + 1 : 0
    return still > 4
  })
}

async function untilTrue(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('the awaited condition did not come')
    await turn()
  }
}

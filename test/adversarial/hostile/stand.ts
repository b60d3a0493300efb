import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { clockOf, createRandom } from '../../../daemon/machine/ports.ts'
import { parseAllowList } from '../../../lib/egress/url.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { createEngine } from '../../../lib/engine/engine.ts'
import { createKeyring } from '../../../lib/engine/keyring.ts'
import type { SendLimits } from '../../../lib/engine/webhook-queues.ts'
import { createUuid7 } from '../../../lib/internal/uuid7.ts'
import type { Millis } from '../../../lib/time.ts'
import { HOUR, MINUTE, SECOND } from '../../../lib/time.ts'
import { brandNames } from '../../../lib/webhook/headers.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import { createEgressClient } from '../../../plugins/egress/undici.ts'
import type { Store } from '../../../plugins/store/contract.ts'
import type { InspectedDelivery } from '../../../plugins/store/contract/deliveries.ts'
import { openPlatformStore } from '../../../plugins/platform/open.ts'
import { until } from '../../support/daemon.ts'
import { NAME } from '../../support/egress.ts'
import { ACCOUNT, plainWebhook } from '../../support/engine.ts'
import { STEP } from './rows/wishes.ts'
import { HOST } from './server.ts'

/** What a stand needs of a test. */
interface Scope {
  testdir(): string
  teardown(handler: () => Promise<void>): void
}

export interface StandOptions {
  /** For one attempt. */
  readonly timeout: Millis
  /** Default: one retry after a minute. */
  readonly schedule?: readonly Millis[]
  /** Default: as the daemon's own. */
  readonly limits?: SendLimits
  /** Authorities in PEM that its client trusts. */
  readonly ca?: string
}

/** Where a webhook leads on the one permitted address. */
export interface Door {
  readonly port: number
  /** Given when it is called over TLS. */
  readonly ca?: string | undefined
}

/** The real engine over SQLite, and the real client, against receivers on loopback. */
export interface Stand {
  readonly store: Store
  /** Registers a webhook for a type of events, before anything is published. */
  register(door: Door, type: string): Promise<WebhookRecord>
  publish(type: string, count?: number, padding?: number): Promise<void>
  /** The deliveries of a webhook, newest first. */
  deliveries(webhook: WebhookRecord): Promise<readonly InspectedDelivery[]>
  /** Resolves once a webhook has that many deliveries and an attempt at each of them is over. */
  attempted(webhook: WebhookRecord, count: number): Promise<readonly InspectedDelivery[]>
  /** Resolves once a webhook has that many deliveries and each of them succeeded. */
  succeeded(webhook: WebhookRecord, count: number): Promise<readonly InspectedDelivery[]>
  /** Connections of its client that are open to a port. */
  connections(port: number): number
  /** Ends the dispatcher and the client; the store is there still. */
  stop(): Promise<void>
  /** Ends everything. */
  close(): Promise<void>
}

export async function createStand(t: Scope, options: StandOptions): Promise<Stand> {
  const { store } = await openPlatformStore(join(t.testdir(), 'stand.sqlite'))
  const clock = clockOf(store)
  const random = createRandom()
  const newId = createUuid7(clock.now, random)
  const keyring = createKeyring([{ id: 'k1', key: random(32) }], random)
  const limits = options.limits ?? { total: 256, perWebhook: 64 }
  const egress = createEgressClient({
    policy: { schemes: ['https'], allow: parseAllowList(HOST) },
    resolve: (name) => Promise.resolve(name === NAME ? [HOST] : []),
    maxSocketsPerOrigin: limits.total,
    connectTimeout: options.timeout,
    tls: { ca: options.ca ?? '' },
  })
  const engine: Engine = createEngine({
    store,
    sender: egress,
    clock,
    random,
    newId,
    keyring,
    names: brandNames('service'),
    schedule: options.schedule ?? [STEP * SECOND],
    disabling: { failures: 1_000_000, span: HOUR },
    limits,
    timeout: options.timeout,
  })
  await engine.dispatcher.start()
  const stop = once(async () => {
    await engine.dispatcher.stop()
    await egress.close()
  })
  const close = once(async () => {
    await stop()
    await store.close()
  })
  t.teardown(close)

  const deliveries: Stand['deliveries'] = async ({ id }) => {
    const filter = { status: null, event_type: null, event_id: null, apps: null }
    const place = { account_id: ACCOUNT, webhook_id: id }
    const page = await store.deliveries.list({ ...place, ...filter, limit: 10_000, after: null })
    return page.rows
  }

  async function all(
    webhook: WebhookRecord,
    count: number,
    holds: (one: InspectedDelivery) => boolean,
  ): Promise<readonly InspectedDelivery[]> {
    let found: readonly InspectedDelivery[] = []
    await until(
      `${count} deliveries to ${webhook.url}`,
      async () => {
        found = await deliveries(webhook)
        return found.length === count && found.every(holds)
      },
      2 * MINUTE,
    )
    return found
  }

  return {
    store,
    async register(door, type) {
      const plain = plainWebhook(newId, keyring, random)
      const webhook = { ...plain, url: urlOf(door), events: [type] }
      await store.write((tx) => tx.webhooks.insert(webhook))
      return webhook
    },
    async publish(type, count = 1, padding = 0) {
      const data = { padding: 'x'.repeat(padding) }
      const events = Array.from({ length: count }, () => engine.newEvent(ACCOUNT, type, data))
      await engine.outbox.publish(events)
    },
    connections: watchConnections(t),
    deliveries,
    attempted: (webhook, count) => all(webhook, count, isAttempted),
    succeeded: (webhook, count) =>
      all(webhook, count, ({ delivery }) => delivery.status === 'succeeded'),
    stop,
    close,
  }
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => (running ??= run())
}

function isAttempted({ delivery, attempts }: InspectedDelivery): boolean {
  return attempts.length > 0 && delivery.status !== 'delivering'
}

/** Notes every TCP connection that this process opens from now on. */
function watchConnections(t: Scope): Stand['connections'] {
  const open = new Set<Socket>()
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket }
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  }
  subscribe('net.client.socket', note)
  t.teardown(async () => {
    unsubscribe('net.client.socket', note)
  })
  return (port) => [...open].filter(({ remotePort }) => remotePort === port).length
}

function urlOf({ port, ca }: Door): string {
  return ca === undefined ? `http://${HOST}:${port}/in` : `https://${NAME}:${port}/in`
}

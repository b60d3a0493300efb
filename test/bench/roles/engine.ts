import { join } from 'node:path'
import { readConfig } from '../../../daemon/config/config.ts'
import { FAMILIES } from '../../../daemon/families/index.ts'
import type { Opened } from '../../../daemon/composition/open.ts'
import { openPlatform } from '../../../daemon/composition/open.ts'
import { createLog } from '../../../daemon/telemetry/log.ts'
import type { NewEvent } from '../../../lib/engine/ports.ts'
import { createEventId, serializeEvent } from '../../../lib/webhook/event.ts'
import { openDatabase } from '../../../plugins/registry.ts'
import type { SqlClient } from '../../../plugins/store/sql/client.ts'
import { now, WARM_UP_MS } from '../clock.ts'
import { addEntries } from '../ledger.ts'
import { addPassages } from '../passages.ts'
import { data } from '../payload.ts'
import { serve } from '../serve.ts'
import type { StoreCounts } from '../store-counts.ts'
import { countStore } from '../store-counts.ts'
import type { BenchWebhook } from '../webhooks.ts'
import { addWebhooks } from '../webhooks.ts'

/** All that a daemon is but its listener, with its store's calls counted. */
interface Running extends Opened {
  readonly counts: StoreCounts
  readonly client: SqlClient
}

/** The outbox commits at most so many together. */
const GROUP = 256
const log = createLog('error')
let running: Running | undefined

function required(): Running {
  if (running === undefined) throw new Error('not opened')
  return running
}

async function open(env: Readonly<Record<string, string>>): Promise<void> {
  const config = readConfig(env, 'dev')
  const { store, client } = await openDatabase(
    config.databaseUrl ?? join(config.dataDir, 'keyhook.db'),
  )
  const counts = countStore(store)
  const opened = await openPlatform({
    config,
    log,
    families: FAMILIES,
    async openStorage() {
      return { store: counts.store, masterKeyFile: undefined, close: () => store.close() }
    },
    baseUrl: 'http://127.0.0.1:8420',
    ownHosts: [],
  })
  running = { ...opened, counts, client }
}

async function startSending(): Promise<void> {
  await required().start({ dispatch: true })
}

function webhooks(asked: readonly BenchWebhook[]): Promise<readonly string[]> {
  return addWebhooks(required().platform, asked)
}

/** As the API makes one of a request's text. */
function newEvent({ account, type }: BenchWebhook): NewEvent {
  const { clock, random } = required().platform
  const created_at = clock.now()
  const id = createEventId(created_at, random)
  const body = serializeEvent({ id, type, created_at, data })
  return { id, account_id: account, app_id: null, type, created_at, body, supplied: false }
}

/** Publishes `count` events while nothing is sent: a backlog, the same for each webhook. */
async function fill(input: {
  readonly webhooks: readonly BenchWebhook[]
  readonly count: number
}): Promise<void> {
  const { outbox } = required().platform.engine
  const each = Math.ceil(input.count / input.webhooks.length)
  for (const webhook of input.webhooks) {
    for (let left = each; left > 0; left -= GROUP) {
      const events = Array.from({ length: Math.min(left, GROUP) }, () => newEvent(webhook))
      await outbox.publish(events)
    }
  }
}

/** Keeps passages that can be searched. */
function passages(count: number): Promise<void> {
  return addPassages(required().platform, count)
}

/** Fills the ledger of an account. */
function entries(count: number): Promise<void> {
  const { platform, client } = required()
  return addEntries(platform.store, client, count)
}

/** Sends a backlog of `count` that is there already; answers a rate over all of it. */
async function drain(count: number): Promise<number> {
  const { counts } = required()
  const started = now()
  await startSending()
  await counts.until(count)
  return count / ((now() - started) / 1e6)
}

/**
 * Publishes events for webhooks of one account at once, `each` for each, born claimed and handed over in
 * memory, and again when all are recorded; the rate is of the time from their commit to that of their last
 * outcome. `readBack` says which part of them came out of the table after all.
 */
async function handOver(input: {
  readonly webhooks: readonly BenchWebhook[]
  readonly each: number
  readonly seconds: number
}): Promise<{ perSecond: number; readBack: number }> {
  const { platform, counts } = required()
  const burst = input.webhooks.length * input.each
  await startSending()
  let published = 0

  async function send(): Promise<number> {
    published += burst
    const events = input.webhooks.flatMap((webhook) =>
      Array.from({ length: input.each }, () => newEvent(webhook)),
    )
    await platform.engine.outbox.publish(events)
    await counts.until(published)
    return now() - counts.committedAt
  }

  const from = now() + WARM_UP_MS * 1000
  while (now() < from) await send()
  let delivered = 0
  let took = 0
  while (took < input.seconds * 1e6) {
    took += await send()
    delivered += burst
  }
  return { perSecond: delivered / (took / 1e6), readBack: counts.claimed / published }
}

async function close(): Promise<void> {
  await running?.close()
}

serve({ open, webhooks, fill, passages, entries, drain, handOver, close })

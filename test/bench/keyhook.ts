import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { readConfig } from '../../daemon/config.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { hashToken } from '../../lib/key/hash.ts'
import { mintToken } from '../../lib/key/token.ts'
import { readScopes } from '../../lib/scope/canonical.ts'
import { mintSecret } from '../../lib/webhook/secret.ts'
import { secretPlace } from '../../lib/engine/targets.ts'
import { HEALTHY } from '../../lib/delivery/health.ts'
import { serve } from './child.ts'

const TYPE = 'bench.happened'
let daemon: Daemon | undefined
let folder = ''
let account = ''

/** A daemon of its own on a new SQLite file, with one key and one webhook. */
async function start(input: {
  readonly receiver: string
  readonly dispatch: boolean
}): Promise<{ origin: string; key: string }> {
  folder = await mkdtemp(join(tmpdir(), 'keyhook-bench-'))
  const config = readConfig(
    {
      KEYHOOK_PORT: '0',
      KEYHOOK_DATA_DIR: folder,
      KEYHOOK_LOG_LEVEL: 'error',
      KEYHOOK_OWNER_EMAIL: 'owner@example.com',
      KEYHOOK_OWNER_PASSWORD: 'not-a-secret-of-anyone',
    },
    true,
  )
  daemon = await startDaemon(config, createLog('error'), { dispatch: input.dispatch })
  return { origin: daemon.url, key: await prepare(daemon, input.receiver) }
}

async function prepare({ platform }: Daemon, receiver: string): Promise<string> {
  const { store, clock, newId, names, random, keyring, eventTypes } = platform
  const now = clock.now()
  const [owner] = (await store.accounts.list({ limit: 1, after: null })).rows
  account = owner?.id ?? ''
  const token = mintToken(names.keyPrefix, random)
  const created = { account_id: account, created_at: now, updated_at: now }
  const created_by = { type: 'operator', id: null } as const
  const secretId = newId()
  await store.write(async (tx) => {
    await tx.keys.insert({
      ...created,
      created_by,
      id: newId(),
      name: 'bench',
      scopes: readScopes('events:write'),
      pins: 'all',
      parent_id: null,
      depth: 0,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      version: 1,
      secrets: [
        {
          hash: hashToken(token.value),
          display: token.display,
          version: 1,
          created_at: now,
          not_after: null,
        },
      ],
    })
    await tx.events.putType({
      ...created,
      type: TYPE,
      description: null,
      schema: null,
      sample: null,
    })
    await tx.webhooks.insert({
      ...created,
      ...HEALTHY,
      created_by,
      id: newId(),
      url: `${receiver}/in`,
      events: [TYPE],
      description: null,
      apps: null,
      status: 'active',
      disabled_reason: null,
      disabled_at: null,
      standard_headers: false,
      headers: null,
      rate_limit: null,
      concurrency: null,
      last_success_at: null,
      last_delivery_at: null,
      secrets: [
        {
          id: secretId,
          sealed: keyring.seal(mintSecret(random), secretPlace(secretId)),
          display: 'whsec_bench…',
          created_at: now,
          not_after: null,
        },
      ],
    })
  })
  eventTypes.drop(account)
  return token.value
}

/** Publishes `count` events while nothing is sent, then sends them: a backlog read from the table. */
async function drainBacklog(input: {
  readonly count: number
  readonly data: string
}): Promise<number> {
  const { engine } = required().platform
  const data: unknown = JSON.parse(input.data)
  for (let left = input.count; left > 0; left -= 200) {
    const events = Array.from({ length: Math.min(left, 200) }, () =>
      engine.newEvent(account, TYPE, data as object),
    )
    await engine.outbox.publish(events)
  }
  const started = performance.now()
  await engine.dispatcher.start()
  while ((await required().platform.store.lanes()).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return input.count / ((performance.now() - started) / 1000)
}

function required(): Daemon {
  if (daemon === undefined) throw new Error('not started')
  return daemon
}

async function stop(): Promise<void> {
  await daemon?.stop()
  daemon = undefined
  await rm(folder, { recursive: true, force: true })
}

/** How many events the daemon accepted, and in how many commits. */
async function committed(): Promise<{ events: number; commits: number }> {
  const text = await required().metrics()
  const read = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
  return {
    events: read('keyhook_events_accepted_total'),
    commits: read('keyhook_publish_commits_total'),
  }
}

serve({ start, drainBacklog, committed, stop })

import { readConfig } from '../../../daemon/config/config.ts'
import type { Daemon } from '#daemon'
import { startDaemon } from '#daemon'
import { createLog } from '../../../daemon/telemetry/log.ts'
import { askControl } from '../../support/control.ts'
import { delay } from '../clock.ts'
import { serve } from '../serve.ts'
import type { BenchWebhook } from '../webhooks.ts'
import { addWebhooks } from '../webhooks.ts'

export interface DaemonAsked {
  readonly env: Readonly<Record<string, string>>
  /** False accepts and sends nothing until it is told to. */
  readonly dispatch: boolean
}

/** What the owner of a new daemon makes first. */
export interface Made {
  readonly key: string
  /** In the order asked for. */
  readonly webhooks: readonly string[]
}

let daemon: Daemon | undefined
let folder = ''

function running(): Daemon {
  if (daemon === undefined) throw new Error('not started')
  return daemon
}

/** A whole daemon in this process, which receivers on this machine may be sent to. */
async function start({ env, dispatch }: DaemonAsked): Promise<string> {
  const config = readConfig(env, 'dev')
  folder = config.dataDir
  daemon = await startDaemon(config, createLog('error'), { dispatch })
  return daemon.url
}

async function make(webhooks: readonly Omit<BenchWebhook, 'account'>[]): Promise<Made> {
  const { platform } = running()
  const { rows } = await platform.store.accounts.list({ limit: 1, after: null })
  const account = rows[0]?.id ?? ''
  const { key } = await askControl(folder)('POST', '/v1/keys', {
    name: 'bench',
    scopes: ['events:write', 'webhooks:read'],
  })
  return {
    key: String(key),
    webhooks: await addWebhooks(
      platform,
      webhooks.map((webhook) => ({ ...webhook, account })),
    ),
  }
}

async function dispatch(): Promise<void> {
  await running().platform.engine.dispatcher.start()
}

/** How many events it accepted, and in how many commits. */
async function accepted(): Promise<{ events: number; commits: number }> {
  const text = await running().metrics()
  const read = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
  return {
    events: read('keyhook_events_accepted_total'),
    commits: read('keyhook_publish_commits_total'),
  }
}

/** Resident MB, the least within `ms`: what is only waiting to be collected may be gone in a moment. */
async function resident(ms: number): Promise<number> {
  let least = Infinity
  for (const end = Date.now() + ms; Date.now() < end; await delay(100))
    least = Math.min(least, process.memoryUsage.rss())
  return least / 1e6
}

async function stop(): Promise<void> {
  await daemon?.stop()
  daemon = undefined
}

serve({ start, make, dispatch, accepted, resident, stop })

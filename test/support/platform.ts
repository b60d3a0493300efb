import type { AppIds } from '../../daemon/authority/app-directory.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { clockOf } from '../../daemon/machine/ports.ts'
import type { Opened } from '../../daemon/composition/open.ts'
import { openPlatform } from '../../daemon/composition/open.ts'
import type { Processing } from '../../daemon/billing/billing.ts'
import type { Prices } from '../../daemon/billing/prices.ts'
import { readConfig } from '../../daemon/config/config.ts'
import type { TrafficLimits } from '../../daemon/http/traffic.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import type { DisablingRule } from '../../lib/delivery/health.ts'
import type { RetrySchedule } from '../../lib/delivery/schedule.ts'
import { parseAllowList } from '../../lib/egress/url.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import { HOUR, SECOND } from '../../lib/time.ts'
import { createMemoryBytes } from '../../plugins/apps/memory.ts'
import type { Destinations } from '../../daemon/events/sender.ts'
import type { Deployer } from '../../plugins/deploy/contract.ts'
import { createMemoryDeployer } from '../../plugins/deploy/memory.ts'
import type { Editor } from '../../plugins/edits/contract.ts'
import type { Embedder } from '../../plugins/embeddings/contract.ts'
import type { FileProcessor } from '../../plugins/files/contract.ts'
import { createMemoryFileProcessor } from '../../plugins/files/memory.ts'
import type { NameLookup } from '../../plugins/egress/contract.ts'
import { createEgressClient } from '../../plugins/egress/undici.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { migratedFile } from './migrated.ts'

export interface PlatformOptions {
  /** Where webhooks may go beside the public internet. Default every port of 127.0.0.1. */
  readonly allow?: string
  /** Names and their addresses; any other name has none. */
  readonly names?: Readonly<Record<string, readonly string[]>>
  /** Where domains of apps are looked up. Default: where no name has any record. */
  readonly nameLookup?: NameLookup
  /** Below which apps are seen. Default apps.example.net. */
  readonly appsDomain?: string
  /** Default 1, 2 and 4 seconds. */
  readonly schedule?: RetrySchedule
  /** Default: after 3 failures. */
  readonly disabling?: DisablingRule
  readonly clock?: Clock
  /** Whose apps keys are pinned to. Default any. */
  readonly appIds?: AppIds
  /** Default: one that compresses nothing. */
  readonly deployer?: Deployer
  /** Default: none. */
  readonly editor?: Editor
  /** Whether new webhooks get the headers of Standard Webhooks. Default false. */
  readonly standardHeaders?: boolean
  /** Models that callers may name. Default: none. */
  readonly models?: readonly string[]
  /** Default: one that reads text and markdown, in this very process. */
  readonly fileProcessor?: FileProcessor
  /** Default: none, so that knowledge is searched by words. */
  readonly embedder?: Embedder
  /** Where webhooks may send besides https. Default: nowhere. */
  readonly destinations?: Destinations
  /** URL of a PostgreSQL database. Default: a SQLite file of its own. */
  readonly database?: string | undefined
  /** Work is charged at these prices. Default: nothing is charged. */
  readonly prices?: Prices
  /** Who takes money. Default: nobody. */
  readonly processing?: Processing
  /** What requests and responses may hold. Default: as in production. */
  readonly traffic?: TrafficLimits
}

const EMPTY_DNS: NameLookup = {
  texts: async () => [],
  aliases: async () => [],
  addresses: async () => [],
}

const KEY = { id: 'k1', key: new Uint8Array(32).fill(7) }

/** A platform whose webhooks reach loopback alone; composed as the daemon's. */
export async function createPlatform(
  folder: string,
  options: PlatformOptions & { readonly baseUrl: string; readonly families: readonly Family[] },
): Promise<Opened> {
  const { baseUrl, families, clock, prices, embedder, editor, traffic } = options
  const domain = options.appsDomain ?? 'apps.example.net'
  const disabling = options.disabling ?? { failures: 3, span: 0 }
  const allow = parseAllowList(options.allow ?? '127.0.0.1')
  const ownHosts = [new URL(baseUrl).host]
  return openPlatform({
    config: {
      ...readConfig({}),
      masterKey: [KEY],
      webhookAllow: allow,
      webhookRetrySchedule: options.schedule ?? [SECOND, 2 * SECOND, 4 * SECOND],
      webhookDisableFailures: disabling.failures,
      webhookDisableHours: disabling.span / HOUR,
      webhookTimeoutMs: 5 * SECOND,
      dispatchConcurrency: 64,
      webhookConcurrency: 8,
      webhookStandardHeaders: options.standardHeaders === true ? 'on' : 'off',
      appIds: options.appIds ?? 'any',
      llmModels: options.models ?? [],
      billing: prices === undefined ? 'none' : 'internal',
    },
    log: createLog('silent'),
    families,
    async openStorage() {
      const { store } = await openPlatformStore(options.database ?? (await migratedFile(folder)))
      const appBytes = createMemoryBytes({ clock: clock ?? clockOf(store) })
      return { store, appBytes, masterKeyFile: undefined, close: () => store.close() }
    },
    appsHosting: { domain, urlOf: (name) => `https://${name}.${domain}` },
    baseUrl,
    agentProtocols: true,
    ownHosts,
    plugins: {
      egress: createEgressClient({
        policy: { schemes: ['https'], allow, ownHosts },
        resolve: (name) => Promise.resolve(options.names?.[name] ?? []),
      }),
      nameLookup: options.nameLookup ?? EMPTY_DNS,
      deployer: options.deployer ?? createMemoryDeployer(),
      fileProcessor: options.fileProcessor ?? createMemoryFileProcessor(),
      ...(editor !== undefined && { editor }),
      ...(embedder !== undefined && { embedder }),
      ...(options.destinations !== undefined && { destinations: options.destinations }),
      processing: options.processing,
    },
    clock,
    prices,
    traffic,
  })
}

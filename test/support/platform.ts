import { join } from 'node:path'
import type { AppIds } from '../../daemon/authority/app-directory.ts'
import { APP_DIRECTORIES } from '../../daemon/authority/app-directory.ts'
import { catalogueOf } from '../../daemon/operations/catalogue.ts'
import { openEventPositions } from '../../daemon/events/positions.ts'
import { createEventTypes } from '../../daemon/events/types.ts'
import { createPageQueue } from '../../daemon/families/cursor.ts'
import { createPollQueue } from '../../daemon/families/polling.ts'
import { createApplyingQueue } from '../../daemon/trees/turn.ts'
import { createReplayQueue } from '../../daemon/families/webhooks/again.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { clockOf, createRandom } from '../../daemon/machine/ports.ts'
import type { Platform } from '../../daemon/platform.ts'
import { createSearchQueue } from '../../daemon/queues/reads.ts'
import { createWriteQueue } from '../../daemon/queues/writes.ts'
import type { DisablingRule } from '../../lib/delivery/health.ts'
import type { RetrySchedule } from '../../lib/delivery/schedule.ts'
import { parseAllowList } from '../../lib/egress/url.ts'
import { createEngine } from '../../lib/engine/engine.ts'
import { createKeyring } from '../../lib/engine/keyring.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import { createVerifier } from '../../lib/engine/verifier.ts'
import { createUuid7 } from '../../lib/internal/uuid7.ts'
import { createUniverse, SPEC_SCOPES } from '../../lib/scope/syntax.ts'
import { SECOND } from '../../lib/time.ts'
import { brandNames } from '../../lib/webhook/headers.ts'
import { createMemoryBytes } from '../../plugins/apps/memory.ts'
import type { Billing } from '../../plugins/billing/contract.ts'
import { createNoBilling } from '../../plugins/billing/none.ts'
import type { Deployer } from '../../plugins/deploy/contract.ts'
import { createMemoryDeployer } from '../../plugins/deploy/memory.ts'
import type { Editor } from '../../plugins/edits/contract.ts'
import { createNoEditor } from '../../plugins/edits/none.ts'
import type { Embedder } from '../../plugins/embeddings/contract.ts'
import type { FileProcessor } from '../../plugins/files/contract.ts'
import { createMemoryFileProcessor } from '../../plugins/files/memory.ts'
import type { NameLookup } from '../../plugins/egress/contract.ts'
import { createEgressClient } from '../../plugins/egress/undici.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'

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
  /** Default: nothing is metered. */
  readonly billing?: Billing
}

const EMPTY_DNS: NameLookup = {
  texts: async () => [],
  aliases: async () => [],
  addresses: async () => [],
}

/** A platform over a SQLite file of its own, whose webhooks reach loopback alone. */
export async function createPlatform(
  folder: string,
  options: PlatformOptions & { readonly baseUrl: string; readonly families: readonly Family[] },
): Promise<Platform> {
  const { baseUrl, families } = options
  const { store } = await openPlatformStore(join(folder, 'keyhook.sqlite'))
  const clock = options.clock ?? clockOf(store)
  const random = createRandom()
  const newId = createUuid7(() => clock.now(), random)
  const keyring = createKeyring([{ id: 'k1', key: random(32) }], random)
  const names = brandNames('service')
  const domain = options.appsDomain ?? 'apps.example.net'
  const egress = createEgressClient({
    policy: {
      schemes: ['https'],
      allow: parseAllowList(options.allow ?? '127.0.0.1'),
      ownHosts: [new URL(baseUrl).host],
    },
    resolve: (name) => Promise.resolve(options.names?.[name] ?? []),
  })
  const eventTypes = createEventTypes(
    families.flatMap((family) => family.events),
    store,
  )
  const engine = createEngine({
    store,
    sender: egress,
    clock,
    random,
    newId,
    keyring,
    names,
    schedule: options.schedule ?? [SECOND, 2 * SECOND, 4 * SECOND],
    disabling: options.disabling ?? { failures: 3, span: 0 },
    limits: { total: 64, perWebhook: 8 },
    timeout: 5 * SECOND,
    isBuiltIn: eventTypes.isBuiltIn,
  })
  const scopes = Object.fromEntries(
    [SPEC_SCOPES, ...families.map((family) => family.scopes)].flatMap(Object.entries),
  )
  return {
    store,
    engine,
    verifier: createVerifier({
      store: store.keys,
      changes: store.changes,
      clock,
      prefix: names.keyPrefix,
    }),
    keyLimit: 100,
    egress,
    nameLookup: options.nameLookup ?? EMPTY_DNS,
    appBytes: createMemoryBytes({ clock }),
    billing: options.billing ?? createNoBilling(),
    appsPlace: { domain, urlOf: (name) => `https://${name}.${domain}` },
    deployer: options.deployer ?? createMemoryDeployer(),
    applying: createApplyingQueue(),
    largePages: createPageQueue(),
    polls: createPollQueue(),
    writes: createWriteQueue(store),
    replays: createReplayQueue(),
    searches: createSearchQueue(),
    editor: options.editor ?? createNoEditor(),
    models: options.models ?? [],
    fileProcessor: options.fileProcessor ?? createMemoryFileProcessor(),
    embedder: options.embedder,
    wake: {
      deploys: () => undefined,
      edits: () => undefined,
      files: () => undefined,
      removed: () => undefined,
      bytes: () => undefined,
    },
    appDirectory: APP_DIRECTORIES[options.appIds ?? 'any'],
    eventTypes,
    eventPositions: await openEventPositions(store, random),
    keyring,
    clock,
    random,
    newId,
    universe: createUniverse(scopes),
    catalogue: catalogueOf('service', families),
    names,
    standardHeaders: options.standardHeaders ?? false,
    baseUrl,
  }
}

import type { Attempt } from '../lib/delivery/state.ts'
import { isFinal } from '../lib/delivery/state.ts'
import { createEngine } from '../lib/engine/engine.ts'
import type { Keyring } from '../lib/engine/keyring.ts'
import type { AttemptedDelivery } from '../lib/engine/ports.ts'
import { createVerifier } from '../lib/engine/verifier.ts'
import { createUuid7 } from '../lib/internal/uuid7.ts'
import { requiredScope } from '../lib/scope/cover.ts'
import { SPEC_SCOPES, createUniverse } from '../lib/scope/syntax.ts'
import { HOUR } from '../lib/time.ts'
import { brandNames } from '../lib/webhook/headers.ts'
import type { AppBytes } from '../plugins/apps/contract.ts'
import type { Billing } from '../plugins/billing/contract.ts'
import type { Deployer } from '../plugins/deploy/contract.ts'
import type { Editor } from '../plugins/edits/contract.ts'
import type { EgressClient, NameLookup } from '../plugins/egress/contract.ts'
import type { Embedder } from '../plugins/embeddings/contract.ts'
import type { FileProcessor } from '../plugins/files/contract.ts'
import type { StoredFacts } from '../plugins/registry.ts'
import type { PlatformStore, PlatformTx } from '../plugins/platform/contract.ts'
import { APP_DIRECTORIES } from './authority/app-directory.ts'
import { catalogueOf } from './operations/catalogue.ts'
import type { Config } from './config/config.ts'
import { ConfigError } from './config/config.ts'
import { allowedModels } from './editor.ts'
import type { EventPositions } from './events/positions.ts'
import { createEventTypes } from './events/types.ts'
import { appsFamily } from './families/apps/family.ts'
import { createPageQueue } from './families/cursor.ts'
import { createPollQueue } from './families/polling.ts'
import { createApplyingQueue } from './trees/turn.ts'
import { createReplayQueue } from './families/webhooks/again.ts'
import type { Family } from './operations/family.ts'
import { clockOf, createRandom } from './machine/ports.ts'
import type { AppsPlace, Platform } from './platform.ts'
import { SERVICE_ACCOUNT } from './authority/principal.ts'
import type { Log } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { createSearchQueue } from './queues/reads.ts'
import { createWriteQueue } from './queues/writes.ts'

export interface Parts {
  readonly config: Config
  readonly families: readonly Family[]
  readonly store: PlatformStore
  readonly keyring: Keyring
  readonly eventPositions: EventPositions
  readonly egress: EgressClient
  readonly nameLookup: NameLookup
  readonly appBytes: AppBytes | undefined
  readonly billing: Billing<PlatformTx>
  readonly appsPlace: AppsPlace | undefined
  readonly deployer: Deployer
  readonly editor: Editor
  readonly fileProcessor: FileProcessor
  readonly embedder: Embedder | undefined
  readonly metrics: Metrics
  readonly log: Log
  readonly baseUrl: string
}

/** Puts the platform together from its parts; nothing starts yet. */
export function composePlatform(parts: Parts): Platform {
  const { config, families, store, keyring, egress, metrics, log, baseUrl } = parts
  const clock = clockOf(store)
  const random = createRandom()
  const newId = createUuid7(() => clock.now(), random)
  const names = brandNames(config.brand)
  const scopes = Object.assign(
    {},
    SPEC_SCOPES,
    ...families.map((family) => family.scopes),
    config.scopes,
  ) as Record<string, readonly string[]>
  store.onSilence?.((processes) => {
    metrics.unacknowledged()
    log.warn({ processes }, 'a change waited for processes that did not answer')
  })
  const universe = createUniverse(scopes)
  const builtIn = families.flatMap((family) => family.events)
  // A type whose scope nobody can hold is a defect of its family.
  for (const { scope } of builtIn) requiredScope(scope, universe)
  const eventTypes = createEventTypes(builtIn, store)
  const engine = createEngine({
    store,
    sender: egress,
    clock,
    random,
    newId,
    keyring,
    names,
    schedule: config.webhookRetrySchedule,
    disabling: { failures: config.webhookDisableFailures, span: config.webhookDisableHours * HOUR },
    limits: { total: config.dispatchConcurrency, perWebhook: config.webhookConcurrency },
    timeout: config.webhookTimeoutMs,
    lease: config.webhookTimeoutMs + config.webhookLeaseMarginMs,
    isBuiltIn: eventTypes.isBuiltIn,
    events: {
      ...metrics.engine,
      attempted(attempt, of) {
        metrics.engine.attempted?.(attempt, of)
        if (attempt.error !== null) logFailure(log, attempt, of)
      },
      settleFailed(waiting, cause) {
        metrics.engine.settleFailed?.(waiting, cause)
        log.error({ waiting, err: cause }, 'outcomes could not be recorded and are tried again')
      },
      claimFailed(cause) {
        log.error({ err: cause }, 'due deliveries could not be claimed and are tried again')
      },
      disabled(webhookId) {
        metrics.engine.disabled?.(webhookId)
        log.warn({ webhook_id: webhookId }, 'webhook disabled')
      },
      healthFailed(webhookId, cause) {
        log.error({ webhook_id: webhookId, err: cause }, 'webhook health could not be acted on')
      },
    },
  })
  return {
    store,
    engine,
    verifier: createVerifier({
      store: store.keys,
      changes: store.changes,
      clock,
      prefix: names.keyPrefix,
      counts: metrics.verifications,
    }),
    egress,
    nameLookup: parts.nameLookup,
    appBytes: parts.appBytes,
    billing: parts.billing,
    appsPlace: parts.appsPlace,
    deployer: parts.deployer,
    applying: createApplyingQueue(),
    largePages: createPageQueue(),
    polls: createPollQueue(),
    writes: createWriteQueue(store),
    replays: createReplayQueue(),
    searches: createSearchQueue(),
    editor: parts.editor,
    models: allowedModels(config),
    fileProcessor: parts.fileProcessor,
    embedder: parts.embedder,
    wake: {
      deploys: () => undefined,
      edits: () => undefined,
      files: () => undefined,
      removed: () => undefined,
      bytes: () => undefined,
    },
    // Who mounts no apps has none here.
    appDirectory: APP_DIRECTORIES[families.includes(appsFamily) ? config.appIds : 'any'],
    eventTypes,
    eventPositions: parts.eventPositions,
    keyring,
    clock,
    random,
    newId,
    universe,
    keyLimit: config.keyLimit,
    catalogue: catalogueOf(config.brand, families),
    names,
    standardHeaders: config.webhookStandardHeaders === 'on',
    baseUrl,
  }
}

/** One line for each failed attempt, of ids and codes: what was sent and answered, and where, is not logged. */
function logFailure(log: Log, attempt: Attempt, of: AttemptedDelivery): void {
  const { status } = of.after
  const fields = {
    delivery_id: of.delivery_id,
    webhook_id: of.webhook_id,
    account_id: of.account_id,
    attempt: attempt.number,
    error: attempt.error,
    status_code: attempt.status_code,
    duration_ms: attempt.duration,
    delivery_status: status,
  }
  // Only what is not tried again needs somebody.
  log[isFinal(status) ? 'warn' : 'info'](fields, 'delivery.failed')
}

/**
 * Refuses types of the service's own among those that the configuration declares.
 *
 * @throws ConfigError
 */
export function requireOwnTypes(types: readonly string[], families: readonly Family[]): void {
  const builtIn = new Set(families.flatMap(({ events }) => events.map(({ type }) => type)))
  const type = types.find((one) => builtIn.has(one))
  if (type === undefined) return
  throw new ConfigError(`KEYHOOK_EVENT_TYPES names ${type}, which the service itself publishes`)
}

/** Declares the operator's types that the configuration names; what the API said of them stays. */
export async function declareEventTypes(
  { store, clock }: Pick<Platform, 'store' | 'clock'>,
  types: readonly string[],
): Promise<void> {
  const known = new Set(await store.events.typeNames(SERVICE_ACCOUNT))
  const missing = types.filter((type) => !known.has(type))
  if (missing.length === 0) return
  const now = clock.now()
  const declared = {
    description: null,
    schema: null,
    sample: null,
    created_at: now,
    updated_at: now,
  }
  await store.write(async (tx) => {
    for (const type of missing) {
      await tx.events.putType({ ...declared, account_id: SERVICE_ACCOUNT, type })
    }
  })
}

/**
 * Refuses a brand other than that of an existing database, before anything of it is changed.
 *
 * @throws ConfigError
 */
export async function requireBrand(stored: StoredFacts, brand: string): Promise<void> {
  const kept = await stored.meta('brand')
  if (kept !== undefined && kept !== brand) throw otherBrand(brand, kept)
}

function otherBrand(brand: string, kept: string): ConfigError {
  return new ConfigError(
    `KEYHOOK_BRAND is ${brand}, but this database was made as ${kept}, and keeps its brand. Set KEYHOOK_BRAND to ${kept}`,
  )
}

/**
 * Refuses a brand other than the one of the first start: keys and receivers know it.
 *
 * @throws ConfigError
 */
export async function keepBrand(store: PlatformStore, brand: string): Promise<void> {
  const kept =
    (await store.accounts.meta('brand')) ??
    (await store.write((tx) => tx.accounts.putMetaOnce('brand', brand)))
  if (kept !== brand) throw otherBrand(brand, kept)
}

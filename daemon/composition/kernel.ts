import type { Attempt } from '../../lib/delivery/state.ts'
import { isFinal } from '../../lib/delivery/state.ts'
import { createEngine } from '../../lib/engine/engine.ts'
import type { Keyring } from '../../lib/engine/keyring.ts'
import type { AttemptedDelivery, EngineEvents } from '../../lib/engine/ports.ts'
import type { Tracing } from '../../lib/engine/tracing.ts'
import { createVerifier } from '../../lib/engine/verifier.ts'
import { requiredScope } from '../../lib/scope/cover.ts'
import type { ScopeUniverse } from '../../lib/scope/syntax.ts'
import { SPEC_SCOPES, createUniverse } from '../../lib/scope/syntax.ts'
import { HOUR } from '../../lib/time.ts'
import { brandNames } from '../../lib/webhook/headers.ts'
import type { EgressClient } from '../../plugins/egress/contract.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { Config } from '../config/config.ts'
import { openKeyCaches } from './key-caches.ts'
import type { LineLevel } from '../config/log-settings.ts'
import { openEventPositions } from '../events/positions.ts'
import type { Destinations } from '../events/sender.ts'
import { createSender } from '../events/sender.ts'
import { createEventTypes } from '../events/types.ts'
import { taskEvents } from '../jobs/tasks.ts'
import type { Family } from '../operations/family.ts'
import type { Kernel, Machine } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Whether scopes of families that are not served exist: a key may outlive the absence of one. */
export type ScopesKnown = 'specified families' | 'served families'

interface Parts extends Machine {
  readonly config: Config
  readonly families: readonly Family[]
  readonly knows: ScopesKnown
  readonly store: PlatformStore
  readonly keyring: Keyring
  readonly egress: EgressClient
  readonly destinations: Destinations
  readonly metrics: Metrics
  readonly log: Log
  readonly tracing: Tracing | undefined
}

/** Creates keys and webhooks over a store; nothing is sent yet. */
export async function createKernel(parts: Parts): Promise<Kernel> {
  const { config, families, store, keyring, egress, destinations } = parts
  const { clock, random, newId, metrics } = parts
  const names = brandNames(config.brand)
  const universe = universeOf(parts)
  const eventTypes = createEventTypes(
    [...families.flatMap((family) => family.events), ...taskEvents.types],
    store,
  )
  const engine = createEngine({
    store,
    sender: createSender({ egress, destinations, clock, log: parts.log }),
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
    events: watchedBy(metrics, parts.log, config),
    tracing: parts.tracing,
  })
  const verifier = createVerifier({
    store: store.keys,
    changes: store.changes,
    clock,
    prefix: names.keyPrefix,
    counts: metrics.verifications,
  })
  const keyCaches = await openKeyCaches(store, parts)
  const eventPositions = await openEventPositions(store, random)
  return { engine, verifier, keyCaches, keyring, universe, names, eventTypes, eventPositions }
}

/** The scopes of families that are served, those of the settings, and of a daemon those of the specification. */
function universeOf({ config: { scopes }, families, knows }: Parts): ScopeUniverse {
  const known = knows === 'served families' ? {} : SPEC_SCOPES
  const declared = families.map((family) => family.scopes)
  const universe = createUniverse(
    Object.assign({}, known, ...declared, scopes) as Record<string, readonly string[]>,
  )
  // An event type with an undeclared scope is a defect of its family.
  for (const { scope } of families.flatMap(({ events }) => events)) requiredScope(scope, universe)
  return universe
}

function watchedBy(
  { engine: counted }: Metrics,
  log: Log,
  levels: AttemptLevels,
): Partial<EngineEvents> {
  return {
    ...counted,
    attempted(attempt, of) {
      counted.attempted?.(attempt, of)
      logAttempt(log, levels, attempt, of)
    },
    settleFailed(waiting, cause) {
      counted.settleFailed?.(waiting, cause)
      log.error({ waiting, err: cause }, 'outcomes could not be recorded and are tried again')
    },
    claimFailed(cause) {
      log.error({ err: cause }, 'due deliveries could not be claimed and are tried again')
    },
    disabled(webhookId) {
      counted.disabled?.(webhookId)
      log.warn({ webhook_id: webhookId }, 'webhook disabled')
    },
    healthFailed(webhookId, cause) {
      log.error({ webhook_id: webhookId, err: cause }, 'webhook health could not be acted on')
    },
  }
}

type AttemptLevels = Pick<Config, 'logDeliveries' | 'logFailures'>

/** Logs one line per attempt with ids and codes only: no bodies and no addresses. */
function logAttempt(
  log: Log,
  levels: AttemptLevels,
  attempt: Attempt,
  of: AttemptedDelivery,
): void {
  const level = levelOf(levels, attempt, of)
  if (level === 'off' || !log.isLevelEnabled(level)) return
  const fields = {
    delivery_id: of.delivery_id,
    webhook_id: of.webhook_id,
    account_id: of.account_id,
    attempt: attempt.number,
    error: attempt.error,
    status_code: attempt.status_code,
    duration_ms: attempt.duration,
    delivery_status: of.after.status,
  }
  log[level](fields, attempt.error === null ? 'delivery.succeeded' : 'delivery.failed')
}

function levelOf(
  { logDeliveries, logFailures }: AttemptLevels,
  { error }: Attempt,
  { after }: AttemptedDelivery,
): LineLevel {
  if (error === null) return logDeliveries
  // Only a final failure needs attention.
  return isFinal(after.status) ? 'warn' : logFailures
}

import { setTimeout as delay } from 'node:timers/promises'
import type * as OpenTelemetry from '@opentelemetry/api'
import { SECOND } from '../../lib/time.ts'
import type { Log } from './log.ts'
import type { ExportMetrics } from './exported-metrics.ts'
import { exportMetricsTo } from './exported-metrics.ts'
import type { ProcessTracing } from './tracing.ts'
import { createTracing } from './tracing.ts'

/** Spans and metrics of a process, for OpenTelemetry. */
export interface Telemetry {
  readonly tracing: ProcessTracing
  readonly exportMetrics: ExportMetrics
  /** Sends what is left. */
  close(): Promise<void>
}

/** A collector that does not answer must not hold up the end of a process. */
const CLOSE_GRACE = 3 * SECOND

type Env = Readonly<Record<string, string | undefined>>

/** Settings of which one is enough to ask for it. */
const ASKING = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_METRICS_EXPORTER',
]

/** Whether the standard settings ask for telemetry. Without them nothing of it is loaded. */
export function asksForTelemetry(env: Env): boolean {
  if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return false
  return ASKING.some((name) => !['', 'none'].includes(env[name]?.trim() ?? ''))
}

/** Uses the providers that the process registered, or will register. */
export async function joinTelemetry(version: string): Promise<Telemetry> {
  return telemetryOf(await import('@opentelemetry/api'), version, async () => undefined)
}

/**
 * Starts the SDK as the standard settings say. It opens connections of its own, to the operator's collector
 * alone: the guarded client refuses private addresses, where collectors are.
 */
export async function startTelemetry(env: Env, log: Log, version: string): Promise<Telemetry> {
  const [api, { NodeSDK, resources }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-node'),
  ])
  const given = resources.detectResources({ detectors: [resources.envDetector] })
  const defaults = { 'service.name': 'keyhook', 'service.version': version }
  const isNamed =
    env['OTEL_SERVICE_NAME'] !== undefined || given.attributes['service.name'] !== undefined
  const sdk = new NodeSDK({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes(isNamed ? {} : defaults)),
    // The command line and the user are left out, unless the setting asks for them.
    ...(env['OTEL_NODE_RESOURCE_DETECTORS'] === undefined && {
      resourceDetectors: [resources.envDetector, resources.hostDetector],
    }),
    // A caller's context is read by itself, since a propagator would pass on texts of any content.
    textMapPropagator: null,
    instrumentations: [],
    logRecordProcessors: [],
  })
  if (env['OTEL_LOG_LEVEL'] === undefined) reportFailures(api, log)
  sdk.start()
  return telemetryOf(api, version, async () => {
    const sent = sdk.shutdown().then(() => true)
    const late = delay(CLOSE_GRACE, false, { ref: false })
    const isSent = await Promise.race([sent, late]).catch(() => false)
    if (!isSent) log.warn('telemetry.failed: the last spans and metrics could not be sent')
  })
}

function telemetryOf(
  api: typeof OpenTelemetry,
  version: string,
  close: () => Promise<void>,
): Telemetry {
  const meter = api.metrics.getMeter('keyhook', version)
  return { tracing: createTracing(api, version), exportMetrics: exportMetricsTo(meter), close }
}

/** The SDK drops what it cannot send, and tells nobody but its logger. */
function reportFailures({ diag, DiagLogLevel }: typeof OpenTelemetry, log: Log): void {
  const warn = (message: string): void => {
    const [, reason = message] = /"message":"([^"]*)"/.exec(message) ?? []
    log.warn({ reason: reason.slice(0, MAX_REASON) }, 'telemetry.failed')
  }
  const ignore = (): void => undefined
  const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

const MAX_REASON = 500

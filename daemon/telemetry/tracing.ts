import type * as OpenTelemetry from '@opentelemetry/api'
import type { Context, Span, SpanContext, SpanOptions } from '@opentelemetry/api'
import type { Tracing } from '../../lib/engine/tracing.ts'
import { parseTraceparent, printTraceparent } from '../../lib/webhook/traceparent.ts'

/** How a request ended. */
export interface TracedResponse {
  /** `POST /v1/events` */
  readonly route: string
  readonly status: number
  readonly request_id: string
  readonly account_id: string | undefined
}

/** Spans of a process: of its requests, publications and attempts. */
export interface ProcessTracing extends Tracing {
  /**
   * Runs a request in a span.
   *
   * @param traceparent as the caller sent it, which may be anything
   */
  request(traceparent: string, run: () => Promise<TracedResponse>): Promise<void>
}

const FIRST_SERVER_ERROR = 500

/** Milliseconds since 1970, with their fraction. */
type SpanClock = () => number

/**
 * The clock of a span and of those within it. It reads the wall clock once, so that setting that one changes no
 * duration. The SDK's own truncates the start of each span to a whole millisecond: one could end after the span that
 * contains it.
 */
function startClock(): SpanClock {
  const offset = Date.now() - performance.now()
  return () => offset + performance.now()
}

/**
 * Makes spans by the provider that the process registered. They contain ids, codes and routes only: no
 * addresses, bodies or names.
 */
export function createTracing(api: typeof OpenTelemetry, version: string): ProcessTracing {
  const { context, trace, createContextKey, SpanKind, SpanStatusCode, ROOT_CONTEXT } = api
  const tracer = trace.getTracer('keyhook', version)
  /** Where a context has the clock of its spans. */
  const CLOCK = createContextKey('keyhook.clock')

  /** Without the caller's `tracestate` and baggage: they are of any size and content. */
  function remoteContext(traceparent: string | undefined): Context {
    const parsed = traceparent === undefined ? undefined : parseTraceparent(traceparent)
    if (parsed === undefined) return ROOT_CONTEXT
    const { traceId, spanId, flags } = parsed
    const remote: SpanContext = { traceId, spanId, traceFlags: flags & 1, isRemote: true }
    return trace.setSpanContext(ROOT_CONTEXT, remote)
  }

  function print(span: Span): string | undefined {
    const { traceId, spanId, traceFlags } = span.spanContext()
    const text = printTraceparent({ traceId, spanId, flags: traceFlags })
    // Without a provider all digits are 0.
    return parseTraceparent(text) === undefined ? undefined : text
  }

  /** Runs work in a span, which ends with it. What went wrong is told by a code: a message may contain anything. */
  async function within<T>(
    name: string,
    options: SpanOptions,
    parent: Context,
    run: (span: Span) => Promise<T>,
  ): Promise<T> {
    const now = (parent.getValue(CLOCK) as SpanClock | undefined) ?? startClock()
    const span = tracer.startSpan(name, { ...options, startTime: now() }, parent)
    try {
      return await context.with(trace.setSpan(parent.setValue(CLOCK, now), span), () => run(span))
    } catch (cause) {
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw cause
    } finally {
      span.end(now())
    }
  }

  return {
    current() {
      const span = trace.getActiveSpan()
      if (span === undefined) return undefined
      // Work that outlives a request, such as a loop that it started, still runs in its context.
      const hasEnded = !span.isRecording() && (span.spanContext().traceFlags & 1) === 1
      return hasEnded ? undefined : print(span)
    },
    async request(traceparent, run) {
      const options = { kind: SpanKind.SERVER }
      await within('request', options, remoteContext(traceparent), async (span) => {
        const { route, status, request_id, account_id } = await run()
        const [method = '', path = ''] = route.split(' ')
        span.updateName(route)
        span.setAttributes({
          'http.request.method': method,
          'http.route': path,
          'http.response.status_code': status,
          'keyhook.request_id': request_id,
        })
        if (account_id !== undefined) span.setAttribute('keyhook.account_id', account_id)
        if (status >= FIRST_SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR })
      })
    },
    publish(events, run) {
      const [first] = events
      const attributes = {
        'messaging.operation.type': 'send',
        'messaging.batch.message_count': events.length,
        ...(first !== undefined && { 'keyhook.account_id': first.account_id }),
        ...(first !== undefined && events.length === 1 && { 'messaging.message.id': first.id }),
      }
      const options = { kind: SpanKind.PRODUCER, attributes }
      return within('publish', options, context.active(), (span) => run(print(span)))
    },
    attempt(delivery, traceparent, run) {
      const attributes = {
        'messaging.operation.type': 'process',
        'messaging.message.id': delivery.event_id,
        'keyhook.account_id': delivery.account_id,
        'keyhook.delivery_id': delivery.id,
        'keyhook.webhook_id': delivery.webhook_id,
        'keyhook.attempt.trigger': delivery.trigger,
        'keyhook.attempt.number': delivery.attempts + 1,
      }
      const options = { kind: SpanKind.CLIENT, attributes }
      return within('deliver', options, remoteContext(traceparent), async (span) => {
        const finished = await run(print(span) ?? traceparent)
        const { status_code, error } = finished.attempt
        if (status_code !== null) span.setAttribute('http.response.status_code', status_code)
        if (error !== null) {
          span.setAttribute('error.type', error)
          span.setStatus({ code: SpanStatusCode.ERROR })
        }
        return finished
      })
    },
  }
}

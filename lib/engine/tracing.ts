import type { DeliveryRecord, NewEvent, PublishOutcome, SettledAttempt } from './ports.ts'

/**
 * Spans of the engine. Their contexts are W3C `traceparent` texts: that of the publication is stored with
 * its events, so that attempts, in any process, belong to the same trace.
 */
export interface Tracing {
  /** The context of the caller; undefined for none. */
  current(): string | undefined
  /** Runs a publication in a span, which ends with its commit, and passes on the context of the span. */
  publish(
    events: readonly NewEvent[],
    run: (traceparent: string | undefined) => Promise<readonly PublishOutcome[]>,
  ): Promise<readonly PublishOutcome[]>
  /**
   * Runs an attempt in a span, and passes on the context of the span.
   *
   * @param parent the context that is stored with the event; undefined for none
   */
  attempt<Finished extends Pick<SettledAttempt, 'attempt'>>(
    delivery: DeliveryRecord,
    parent: string | undefined,
    run: (traceparent: string | undefined) => Promise<Finished>,
  ): Promise<Finished>
}

/** The same events with a context, which replaces their own. */
export function withContext(
  events: readonly NewEvent[],
  traceparent: string | undefined,
): readonly NewEvent[] {
  return traceparent === undefined ? events : events.map((event) => ({ ...event, traceparent }))
}

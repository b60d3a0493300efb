/** The parts of a W3C `traceparent`, version 00. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string
  /** 16 lower-case hexadecimal digits, not all 0. */
  readonly spanId: string
  readonly flags: number
}

const FORM = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/**
 * Parses a `traceparent`. Undefined for anything but the 55 characters of version 00 of W3C Trace Context,
 * so that a text from a caller can contain nothing else.
 *
 * @example
 * parseTraceparent('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01')?.flags // 1
 */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [, traceId, spanId, flags] = FORM.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** Prints a context; only the flag `sampled` is passed on. */
export function printTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${flags & 1}`
}

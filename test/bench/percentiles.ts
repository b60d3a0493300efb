/** Milliseconds below which half, and 99 of 100, of the given microseconds lie. */
export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

export function percentilesOf(micros: readonly number[]): Percentiles {
  const sorted = Float64Array.from(micros).sort()
  const at = (part: number): number => (sorted[Math.floor(sorted.length * part)] ?? NaN) / 1000
  return { p50: at(0.5), p99: at(0.99) }
}

/** Microseconds of the machine's steady clock, which is the same in every process. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

export function delay(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis))
}

/** What every timed loop runs before it is measured, so that neither side is judged cold. */
export const WARM_UP_MS = 2500

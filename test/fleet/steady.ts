/** Milliseconds of a clock that every process of this machine reads alike. */
export function steady(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

export const rest = (millis: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, millis))

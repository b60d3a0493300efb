/** Bytes per step of long work: about a millisecond. */
export const STEP_BYTES = 262_144

/** Work in steps; it yields after each. */
export type Steps<T> = Generator<undefined, T, undefined>

/**
 * Runs long work and yields to the event loop after each step, so that other requests are served in
 * between.
 *
 * @throws the reason of the signal, once it aborts
 */
export async function runInSteps<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await giveWay()
    signal?.throwIfAborted()
  }
}

/** Bytes in pieces of one step, for consumers that process each piece at once. */
export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    if (from > 0) await giveWay()
    yield bytes.subarray(from, from + STEP_BYTES)
  }
}

/** Resolves after the other pending work of the event loop. */
export function giveWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Bytes that one step of long work covers: about a millisecond of it. */
export const STEP_BYTES = 262_144

/** Work that is done in steps; it yields after each. */
export type Steps<T> = Generator<undefined, T, undefined>

/**
 * Runs long work and gives the event loop back after each step, so that other requests are served between.
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

/** Bytes in pieces of one step, for consumers that work through what they are given at once. */
export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    if (from > 0) await giveWay()
    yield bytes.subarray(from, from + STEP_BYTES)
  }
}

/** Resolves once whatever else waits for the event loop was served. */
export function giveWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'

/**
 * The result of what others' code does, unless it takes longer than `time`. What is late goes on: nothing can
 * end code that ignores its signal.
 *
 * @throws the error `late()` then
 */
export async function within<T>(
  pending: Promise<T>,
  clock: Clock,
  time: Millis,
  late: () => Error,
): Promise<T> {
  let cancel = (): void => undefined
  const timeout = new Promise<never>((_, reject) => {
    cancel = clock.after(time, () => {
      reject(late())
    })
  })
  try {
    return await Promise.race([pending, timeout])
  } finally {
    cancel()
  }
}

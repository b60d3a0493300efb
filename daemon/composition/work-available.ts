import type { WorkAvailable, Notifier } from '../platform.ts'

/** Notifications are dropped until a worker listens. */
export function createWorkAvailable(): WorkAvailable {
  return {
    jobs: createNotifier(),
    removed: createNotifier(),
    bytes: createNotifier(),
  }
}

function createNotifier<Args extends readonly unknown[]>(): Notifier<Args> {
  const listeners = new Set<(...args: Args) => void>()
  const notify = (...args: Args): void => {
    for (const listener of listeners) listener(...args)
  }
  return Object.assign(notify, {
    listen(listener: (...args: Args) => void) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  })
}

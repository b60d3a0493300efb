import type { Wake, Notifier } from '../platform.ts'

/** Nobody is told until workers listen. */
export function createWake(): Wake {
  return {
    jobs: createNotifier(),
    removed: createNotifier(),
    bytes: createNotifier(),
  }
}

function createNotifier<Told extends readonly unknown[]>(): Notifier<Told> {
  const listeners = new Set<(...told: Told) => void>()
  const tell = (...told: Told): void => {
    for (const heard of listeners) heard(...told)
  }
  return Object.assign(tell, {
    listen(heard: (...told: Told) => void) {
      listeners.add(heard)
      return () => {
        listeners.delete(heard)
      }
    },
  })
}

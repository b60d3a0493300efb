import type { Wake, Waker } from '../platform.ts'

/** Nobody is told until workers listen. */
export function createWake(): Wake {
  return {
    deploys: createWaker(),
    edits: createWaker(),
    files: createWaker(),
    removed: createWaker(),
    bytes: createWaker(),
  }
}

function createWaker<Told extends readonly unknown[]>(): Waker<Told> {
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

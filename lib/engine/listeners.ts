import type { EngineEvents } from './ports.ts'

/**
 * Keeps what listeners throw away from the engine's own steps, so that a defect in somebody's metrics
 * leaks no slot and repeats no send; `listenerFailed` is told.
 */
export function guardListeners(events: Partial<EngineEvents>): EngineEvents {
  const listenerFailed = (cause: unknown): void => {
    try {
      events.listenerFailed?.(cause)
    } catch {
      // Nobody is left to tell.
    }
  }
  const tell = (listen: () => void): void => {
    try {
      listen()
    } catch (cause) {
      listenerFailed(cause)
    }
  }
  return {
    committed: (count) => tell(() => events.committed?.(count)),
    attempted: (attempt, of) => tell(() => events.attempted?.(attempt, of)),
    settled: (attempts) => tell(() => events.settled?.(attempts)),
    settleFailed: (waiting, cause) => tell(() => events.settleFailed?.(waiting, cause)),
    claimFailed: (cause) => tell(() => events.claimFailed?.(cause)),
    disabled: (webhookId) => tell(() => events.disabled?.(webhookId)),
    healthFailed: (webhookId, cause) => tell(() => events.healthFailed?.(webhookId, cause)),
    listenerFailed,
  }
}

import type { EngineEvents } from './ports.ts'

/**
 * Wraps listeners so that an error in one, such as a defect in metrics, leaks no slot and repeats no send.
 * It emits `listenerFailed` instead.
 */
export function guardListeners(events: Partial<EngineEvents>): EngineEvents {
  const listenerFailed = (cause: unknown): void => {
    try {
      events.listenerFailed?.(cause)
    } catch {
      // There is no listener for this error.
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

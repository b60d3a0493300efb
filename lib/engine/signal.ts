import type { EngineEvents } from './ports.ts'

/** An event with any number of listeners. */
export interface Signal<T> {
  emit(value: T): void
  listen(listener: (value: T) => void): void
}

export function createSignal<T>(): Signal<T> {
  const listeners: ((value: T) => void)[] = []
  return {
    emit(value) {
      for (const listener of listeners) listener(value)
    },
    listen(listener) {
      listeners.push(listener)
    },
  }
}

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
  const guard = (listen: () => void): void => {
    try {
      listen()
    } catch (cause) {
      listenerFailed(cause)
    }
  }
  return {
    committed: (count) => guard(() => events.committed?.(count)),
    attempted: (attempt, of) => guard(() => events.attempted?.(attempt, of)),
    settled: (attempts) => guard(() => events.settled?.(attempts)),
    settleFailed: (waiting, cause) => guard(() => events.settleFailed?.(waiting, cause)),
    claimFailed: (cause) => guard(() => events.claimFailed?.(cause)),
    disabled: (webhookId) => guard(() => events.disabled?.(webhookId)),
    healthFailed: (webhookId, cause) => guard(() => events.healthFailed?.(webhookId, cause)),
    listenerFailed,
  }
}

/** Tells listeners something happened, so that who tells need not know who listens. */
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

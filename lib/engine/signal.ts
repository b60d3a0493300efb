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

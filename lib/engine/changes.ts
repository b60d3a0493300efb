/**
 * A change of cached data: a key and all keys below it, the status of an account, its webhooks, the event
 * types that it may publish (of all accounts for the empty id), or the releases that the hosts of an app
 * serve.
 */
export interface Change {
  readonly kind: 'key' | 'account' | 'webhooks' | 'event_types' | 'site'
  readonly id: string
}

/** The source of invalidations for caches. */
export interface Changes {
  /**
   * Calls `listener` for every change of this or another process, before the caller that made it gets its
   * response; with `all` when changes may have been missed.
   */
  listen(listener: (change: Change | 'all') => void): void
  /**
   * Whether every acknowledged change is known here. While it is false, no cached data may be used.
   */
  isCurrent(): boolean
}

/** Changes that this process emits itself. */
export interface OwnChanges extends Changes {
  /** To be called in the tick of the commit. */
  emit(change: Change | 'all'): void
}

/** @param isCurrent default: always true, for a store with one process */
export function createChanges(isCurrent: () => boolean = () => true): OwnChanges {
  const listeners: ((change: Change | 'all') => void)[] = []
  return {
    isCurrent,
    listen(listener) {
      listeners.push(listener)
    },
    emit(change) {
      for (const listener of listeners) listener(change)
    },
  }
}

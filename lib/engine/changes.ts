/**
 * A change of what caches hold: a key and what is below it, an account's standing, its webhooks, the
 * types of event it may publish (those of all accounts for the empty id), or what the hosts of an app
 * lead to.
 */
export interface Change {
  readonly kind: 'key' | 'account' | 'webhooks' | 'event_types' | 'site'
  readonly id: string
}

/** What caches stand on: they hear of changes, and know when they may be missing some. */
export interface Changes {
  /**
   * Tells of every change before whoever made it is answered, be it made by this process or by another;
   * of `all` when some may have gone unheard.
   */
  listen(listener: (change: Change | 'all') => void): void
  /**
   * Whether every change that was answered is known here. While not, nothing that is kept may be used:
   * what is needed is read.
   */
  isCurrent(): boolean
}

/** The changes of a store that one process alone writes. */
export interface OwnChanges extends Changes {
  /** Called in the tick of the commit. */
  tell(change: Change | 'all'): void
}

/** @param isCurrent default: always, since nobody else changes anything */
export function createChanges(isCurrent: () => boolean = () => true): OwnChanges {
  const listeners: ((change: Change | 'all') => void)[] = []
  return {
    isCurrent,
    listen(listener) {
      listeners.push(listener)
    },
    tell(change) {
      for (const listener of listeners) listener(change)
    },
  }
}

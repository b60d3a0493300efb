import type { Millis } from '../time.ts'

/**
 * A change of cached data: a key and all keys below it, the status of an account, its webhooks, the event
 * types that it may publish (of all accounts for the empty id), or the releases that the hosts of an app
 * serve.
 */
export interface Change {
  readonly kind: 'key' | 'account' | 'webhooks' | 'event_types' | 'site'
  readonly id: string
  /** Account of a key. Absent in changes that an earlier release recorded. */
  readonly account_id?: string
}

/**
 * Returns a promise when it passes the change on to somebody outside of this process: it resolves once they have
 * applied it, or may no longer use what they cached.
 */
export type ChangeListener = (change: Change | 'all') => Promise<void> | undefined

/** The source of invalidations for caches. */
export interface Changes {
  /**
   * Calls `listener` for every change of this or another process, before the caller that made it gets its
   * response; with `all` when changes may have been missed.
   */
  listen(listener: ChangeListener | ((change: Change | 'all') => void)): void
  /**
   * Whether every acknowledged change is known here. While it is false, no cached data may be used.
   */
  isCurrent(): boolean
  /** How long `isCurrent` stays true at least, without another word from the store. */
  remaining(): Millis
}

/** Changes that this process emits itself. */
export interface OwnChanges extends Changes {
  /**
   * To be called in the tick of the commit.
   *
   * @returns resolves once all that it was passed on to have applied it; undefined when there are none
   */
  emit(...changes: readonly (Change | 'all')[]): Promise<void> | undefined
}

/** @param remaining default: for good, for a store with one process */
export function createChanges(remaining: () => Millis = () => Infinity): OwnChanges {
  const listeners: Parameters<Changes['listen']>[0][] = []
  return {
    remaining,
    isCurrent: () => remaining() > 0,
    listen(listener) {
      listeners.push(listener)
    },
    emit(...changes) {
      const passed = changes.flatMap((change) =>
        listeners.flatMap((listener) => listener(change) ?? []),
      )
      return passed.length === 0 ? undefined : Promise.all(passed).then(() => undefined)
    },
  }
}

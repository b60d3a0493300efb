import type { Reference } from './choice.ts'

const KEY = 'studio-recent'
const MOST = 5

interface Kept {
  readonly user: string
  readonly records: readonly Reference[]
}

/** The records that this user chose last. Names are read again: the browser may be used by others too. */
export function recentOf(user: string): readonly Reference[] {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Kept | null
    if (kept?.user !== user) return []
    return kept.records
      .filter(({ kind, id }) => typeof kind === 'string' && typeof id === 'string')
      .slice(0, MOST)
  } catch {
    // Something else wrote it, or storage is turned off: nothing is recent.
    return []
  }
}

export function remember(user: string, record: Reference): void {
  const others = recentOf(user).filter(({ kind, id }) => kind !== record.kind || id !== record.id)
  const records = [record, ...others].slice(0, MOST)
  try {
    localStorage.setItem(KEY, JSON.stringify({ user, records } satisfies Kept))
  } catch {
    // Without storage nothing is recent.
  }
}

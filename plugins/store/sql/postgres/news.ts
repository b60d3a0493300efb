import type { Query } from '../client.ts'
import type { Tables } from '../tables.ts'

/** What processes tell each other; only hints, since messages may be lost. */
export type News =
  | { readonly kind: 'committed' }
  | { readonly kind: 'lanes'; readonly from: string; readonly webhookIds?: readonly string[] }
  | { readonly kind: 'changed' }
  | { readonly kind: 'known'; readonly id: string; readonly seq: number }

/** Where they are told, named after the prefix of the tables. */
export function channelOf(t: Tables): string {
  return `${t.meta}_committed`
}

/** Work on lanes; none named: anywhere. */
export function printNews(from: string, webhookIds: readonly string[]): string {
  return ['lanes', from, ...webhookIds].join(' ')
}

/** What is not understood, be it of a newer version, says that something was committed. */
export function readNews(payload: string): News {
  const [kind, id = '', ...more] = payload.split(' ')
  if (kind === 'changed') return { kind }
  if (kind === 'known') return { kind, id, seq: Number(more[0]) }
  if (kind !== 'lanes') return { kind: 'committed' }
  return more.length === 0 ? { kind, from: id } : { kind, from: id, webhookIds: more }
}

/** The number of an advisory lock of these tables, as SQL. */
export function lockOf(t: Tables, purpose: 'serving' | 'writing'): string {
  return `hashtextextended(current_schema() || ' ${t.meta} ${purpose}', 0)`
}

/**
 * Version 0.1 served a database alone, by an exclusive lock; later ones share it.
 *
 * @throws Error while such a process runs
 */
export async function lockAgainstOlder(query: Query, t: Tables): Promise<void> {
  const [taken] = await query<{ taken: string }>(
    `SELECT pg_try_advisory_lock_shared(${lockOf(t, 'serving')}) AS taken`,
  )
  if (taken?.taken === 't') return
  throw new Error('a process of an older version serves this database alone: stop it first')
}

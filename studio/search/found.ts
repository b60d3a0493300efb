import { useQueries, useSuspenseQuery } from '@tanstack/react-query'
import { session } from '../session/session.ts'
import type { Choice } from './choice.ts'
import { rankOf } from './choice.ts'
import { KINDS, idQuery, listQuery } from './records.ts'
import { recentOf } from './recent.ts'

/** Shown of each kind. */
const MOST = 8

/** Shorter texts match too much to be worth a request. */
export const SHORTEST = 2

export interface Results {
  readonly choices: readonly Choice[]
  readonly isSearching: boolean
  /** Kinds of which only the newest were searched. */
  readonly parts: readonly string[]
  readonly error: Error | null
}

/** Records whose name, id or address matches. */
export function useRecords(text: string): Results {
  const isWanted = text.length >= SHORTEST
  const lists = useQueries({ queries: KINDS.map((kind) => listQuery(kind, isWanted)) })
  const byId = useQueries({ queries: KINDS.map((kind) => idQuery(kind, text, kind.id.test(text))) })
  const choices = KINDS.flatMap((_, at) => {
    const all = [...(lists[at]?.data?.found ?? [])]
    const exact = byId[at]?.data
    if (exact && !all.some(({ choice }) => choice.key === exact.choice.key)) all.push(exact)
    return all
      .map(({ choice, words }) => ({ choice, rank: rankOf(words, text) }))
      .filter(({ rank }) => isWanted && rank !== undefined)
      .toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
      .slice(0, MOST)
      .map(({ choice }) => choice)
  })
  const queries = [...lists, ...byId]
  return {
    choices,
    isSearching: queries.some(({ isFetching, data }) => isFetching && data === undefined),
    parts: KINDS.filter((_, at) => lists[at]?.data?.isPart === true).map(({ kind }) => kind),
    error: queries.find(({ error }) => error !== null)?.error ?? null,
  }
}

/** The records that were chosen last and still exist. */
export function useRecent(isWanted: boolean): readonly Choice[] {
  const { data } = useSuspenseQuery(session)
  const recent = isWanted ? recentOf(data.user.id) : []
  const read = useQueries({
    queries: recent.flatMap(({ kind, id }) => {
      const known = KINDS.find((one) => one.kind === kind)
      return known?.id.test(id) === true ? [idQuery(known, id, true)] : []
    }),
  })
  return read.flatMap(({ data: found }) =>
    found ? [{ ...found.choice, key: `recent ${found.choice.key}`, group: 'Recent' }] : [],
  )
}

import { useSearch } from '@tanstack/react-router'
import type { api } from '../api/client.ts'

type Query = NonNullable<Parameters<typeof api.events.list>[0]>

/** A search of events, as the address of the page has it. */
export interface Search {
  /** With commas between several. */
  readonly type?: string
  readonly app?: string
  readonly since?: string
  readonly until?: string
  readonly order?: string
}

export function useEventSearch(): Search {
  return useSearch({ from: '/inside/events' })
}

export function typesIn({ type }: Search): readonly string[] {
  return type?.split(',').filter((one) => one !== '') ?? []
}

/** What is asked of the service. */
export function queryOf(search: Search): Query {
  const { app, since, until, order } = search
  const type = typesIn(search).join(',')
  return {
    ...(type === '' ? {} : { type }),
    ...(app === undefined ? {} : { app_id: app }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(order === 'asc' ? ({ order } as const) : {}),
  }
}

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Local time in words; an address may hold any text. */
function timeOf(at: string): string {
  const time = Date.parse(at)
  return Number.isNaN(time) ? at : WHEN.format(time)
}

/** What a search finds, in words. */
export function wordsOf(search: Search): string {
  const { app, since, until, order } = search
  const types = typesIn(search)
  const spans = [
    since === undefined ? '' : `since ${timeOf(since)}`,
    until === undefined ? '' : `before ${timeOf(until)}`,
  ].filter((span) => span !== '')
  const about = [
    types.length === 0 ? 'of every type' : `of the type ${types.join(' or ')}`,
    ...(app === undefined ? [] : [`of the app ${app}`]),
    ...(spans.length === 0 ? [] : [spans.join(' and ')]),
  ]
  return `Events ${about.join(', ')}, ${order === 'asc' ? 'oldest' : 'newest'} first`
}

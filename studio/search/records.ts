import { queryOptions } from '@tanstack/react-query'
import { ApiError } from 'keyhook/client'
import { api } from '../api/client.ts'
import type { Choice } from './choice.ts'

type Options = Parameters<typeof api.keys.list>[1]

/** One request for each kind, however much is typed. */
const SEARCHED = { limit: 100 } as const

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** A kind of records: how they are read, and what they are found by. */
interface Kind {
  readonly kind: string
  /** What an id looks like; a text of this form is looked up. */
  readonly id: RegExp
  /** The newest; undefined where nothing but the id finds one. */
  readonly list?: (options: Options) => Promise<Listed>
  readonly get: (id: string, options: Options) => Promise<Found>
}

/** A record, and the words that find it. */
interface Found {
  readonly choice: Choice
  readonly words: readonly string[]
}

interface Listed {
  readonly found: readonly Found[]
  /** Whether there are older ones, which are found by id only. */
  readonly isPart: boolean
}

const appOf = ({ id, name, alias }: Awaited<ReturnType<typeof api.apps.get>>): Found => ({
  words: [name, id, alias ?? ''],
  choice: {
    ...record('Apps', id),
    name,
    detail: alias ?? id,
    icon: 'apps',
    to: '/apps/$appId',
    params: { appId: id },
  },
})

const keyOf = ({
  id,
  name,
  prefix,
}: Awaited<ReturnType<typeof api.keys.list>>['data'][number]): Found => ({
  words: [name, id, prefix],
  choice: {
    ...record('Keys', id),
    name,
    detail: `${prefix}…`,
    icon: 'keys',
    to: '/keys/$keyId',
    params: { keyId: id },
  },
})

const webhookOf = ({
  id,
  url,
  description,
}: Awaited<ReturnType<typeof api.webhooks.get>>): Found => ({
  words: [description ?? '', url, id],
  choice: {
    ...record('Webhooks', id),
    name: description ?? url,
    ...(description === null ? {} : { detail: url }),
    icon: 'webhooks',
    to: '/webhooks/$webhookId',
    params: { webhookId: id },
  },
})

const eventOf = ({ id, type }: Awaited<ReturnType<typeof api.events.get>>): Found => ({
  words: [id],
  choice: {
    ...record('Events', id),
    name: type,
    detail: id,
    icon: 'events',
    to: '/events/$eventId',
    params: { eventId: id },
  },
})

function record(kind: string, id: string): Pick<Choice, 'key' | 'group' | 'record'> {
  return { key: `${kind} ${id}`, group: kind, record: { kind, id } }
}

function listing<Row>(
  list: (
    options: Options,
  ) => Promise<{ readonly data: readonly Row[]; readonly has_more: boolean }>,
  found: (row: Row) => Found,
): (options: Options) => Promise<Listed> {
  return async (options) => {
    const { data, has_more } = await list(options)
    return { found: data.map(found), isPart: has_more }
  }
}

export const KINDS: readonly Kind[] = [
  {
    kind: 'Apps',
    id: /^[a-z\d]{12}$/,
    list: listing((options) => api.apps.list(SEARCHED, options), appOf),
    get: async (app_id, options) => appOf(await api.apps.get({ app_id }, options)),
  },
  {
    kind: 'Keys',
    id: UUID,
    list: listing((options) => api.keys.list(SEARCHED, options), keyOf),
    get: async (key_id, options) => keyOf(await api.keys.get({ key_id }, options)),
  },
  {
    kind: 'Webhooks',
    id: UUID,
    list: listing((options) => api.webhooks.list(SEARCHED, options), webhookOf),
    get: async (webhook_id, options) => webhookOf(await api.webhooks.get({ webhook_id }, options)),
  },
  {
    kind: 'Events',
    id: /^evt_\w{10,64}$/,
    get: async (event_id, options) => eventOf(await api.events.get({ event_id }, options)),
  },
]

/** The newest records of a kind, read once for everything that is typed. */
export function listQuery({ kind, list }: Kind, isWanted: boolean) {
  return queryOptions({
    queryKey: ['search', kind, 'newest'],
    queryFn: ({ signal }) => list?.({ signal }) ?? { found: [], isPart: false },
    enabled: isWanted && list !== undefined,
    staleTime: 30_000,
  })
}

/** The record with that id; null when there is none. A later text ends the request of an earlier one. */
export function idQuery({ kind, get }: Kind, id: string, isWanted: boolean) {
  return queryOptions({
    queryKey: ['search', kind, 'id', id],
    async queryFn({ signal }) {
      try {
        return await get(id, { signal })
      } catch (error) {
        if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return null
        throw error
      }
    },
    enabled: isWanted,
    staleTime: 30_000,
  })
}

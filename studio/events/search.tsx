import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { CopyLink } from '../parts/copy-link.tsx'
import { Tokens } from '../parts/tokens.tsx'
import { eventTypes } from '../webhooks/types.tsx'
import { Recent } from './recent.tsx'
import type { Search } from './search-of.ts'
import { typesIn, useEventSearch, wordsOf } from './search-of.ts'
import './search.css'

const MOST_TYPES = 20

const SPANS = [
  ['Last hour', 3_600_000],
  ['Last 24 hours', 86_400_000],
  ['Last 7 days', 604_800_000],
] as const

/** Filters as tokens. The address holds them, so that a search is shared by its link, and found again. */
export function SearchEvents() {
  const search = useEventSearch()
  const navigate = useNavigate()
  const set = (changes: { readonly [Name in keyof Search]: string | undefined }): void =>
    void navigate({ to: '.', search: { ...search, ...changes } as never, replace: true })
  const types = useQuery(eventTypes).data ?? []
  const apps = useQuery({
    queryKey: ['apps', 'list', 'proposed'],
    queryFn: () => api.apps.list({ limit: 100 }),
    staleTime: 60_000,
  })
  const isFiltered = Object.keys(search).length > 0
  return (
    <>
      <div role="search" className="search">
        <Tokens
          label="Types"
          example="order.paid"
          values={typesIn(search)}
          proposed={types.map(({ type }) => ({ value: type }))}
          most={MOST_TYPES}
          change={(values) => set({ type: values.length === 0 ? undefined : values.join(',') })}
        />
        <Tokens
          label="App"
          example="Id of an app"
          values={search.app === undefined ? [] : [search.app]}
          proposed={(apps.data?.data ?? []).map(({ id, name }) => ({
            value: id,
            text: `${name} (${id})`,
          }))}
          most={1}
          change={([app]) => set({ app })}
        />
        <Moment label="Since" at={search.since} set={(since) => set({ since })} />
        <Moment label="Before" at={search.until} set={(until) => set({ until })} />
        <NativeSelect
          label="Order"
          value={search.order ?? ''}
          data={[
            { value: '', label: 'Newest first' },
            { value: 'asc', label: 'Oldest first' },
          ]}
          onChange={(event) => set({ order: event.currentTarget.value || undefined })}
        />
      </div>
      <div className="row-actions spans">
        {SPANS.map(([name, length]) => (
          <Button
            key={name}
            size="xs"
            variant="default"
            onClick={() =>
              set({ since: new Date(Date.now() - length).toISOString(), until: undefined })
            }
          >
            {name}
          </Button>
        ))}
        {isFiltered && <CopyLink what="search" />}
      </div>
      <Recent />
      <p role="status" className="matched">
        {wordsOf(search)}. {isFiltered && <Link to="/events">Clear filters</Link>}
      </p>
    </>
  )
}

/** An instant in local time; the address has it in full, so that it means the same to whoever gets the link. */
function Moment({
  label,
  at,
  set,
}: {
  readonly label: string
  readonly at: string | undefined
  readonly set: (at: string | undefined) => void
}) {
  return (
    <TextInput
      // What is typed is the filter once it is entered; an address that changes wins.
      key={at}
      type="datetime-local"
      step={1}
      label={label}
      defaultValue={localOf(at)}
      onBlur={({ currentTarget: { value } }) => {
        // A browser leaves out seconds that are 0.
        if (timeOf(value) === timeOf(localOf(at))) return
        set(value === '' ? undefined : new Date(value).toISOString())
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur()
      }}
    />
  )
}

const timeOf = (local: string): number | undefined => Date.parse(local) || undefined

/** As the field writes it: local time to the second. */
function localOf(at: string | undefined): string {
  const time = at === undefined ? NaN : Date.parse(at)
  if (Number.isNaN(time)) return ''
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19)
}

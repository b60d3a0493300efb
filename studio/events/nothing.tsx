import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { Empty } from '../parts/page.tsx'
import { FIRST_EVENT, firstEventOf } from '../parts/shell.ts'
import { eventTypes } from '../webhooks/types.tsx'
import type { Search } from './search-of.ts'
import { typesIn } from './search-of.ts'

/** Maximum types that are proposed in place of one that is unknown. */
const MOST_PROPOSED = 5

/** Why no event matches, and what to do next. */
export function Nothing({ of: search }: { readonly of: Search }) {
  const [type, ...others] = typesIn(search)
  const { app, since, until } = search
  if ([app, since, until].some((one) => one !== undefined) || others.length > 0) {
    return (
      <Empty action={<Link to="/events">Show all events</Link>}>
        No event that is kept matches these filters.
      </Empty>
    )
  }
  if (type === undefined) {
    return (
      <Empty command={FIRST_EVENT}>
        Everything that happens is here, newest first, and who was notified of it.
      </Empty>
    )
  }
  return type.startsWith('evt_') ? <IdGiven id={type} /> : <NoneOf type={type} />
}

function IdGiven({ id }: { readonly id: string }) {
  const open = (
    <Link to="/events/$eventId" params={{ eventId: id }}>
      Open the event with this id
    </Link>
  )
  return (
    <Empty action={open}>
      <code>{id}</code> is the id of an event, not a type.
    </Empty>
  )
}

function NoneOf({ type }: { readonly type: string }) {
  const types = useQuery(eventTypes).data
  const every = <Link to="/events">Show events of every type</Link>
  const known = types?.find((one) => one.type === type)
  if (known === undefined && types !== undefined) {
    return (
      <Empty action={every}>
        No event of the type <code>{type}</code> is kept, and no such type is declared. The filter
        takes one whole type.
        <Similar of={similarTo(type, types)} />
      </Empty>
    )
  }
  const isOwn = known?.built_in === false
  return (
    <Empty action={every} {...(isOwn ? { command: firstEventOf(type) } : {})}>
      No event of the type <code>{type}</code> is kept.
      {known?.built_in === true && ` The service publishes it: ${known.description}`}
    </Empty>
  )
}

function Similar({ of: types }: { readonly of: readonly string[] }) {
  return types.map((type, at) => (
    <Fragment key={type}>
      {at === 0 ? ' Similar types: ' : ', '}
      <Link to="/events" search={{ type }}>
        {type}
      </Link>
    </Fragment>
  ))
}

/** Types that contain a word of it. */
function similarTo(type: string, known: readonly { readonly type: string }[]): readonly string[] {
  const words = type
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2)
  return known
    .map((one) => one.type)
    .filter((one) => words.some((word) => one.includes(word)))
    .slice(0, MOST_PROPOSED)
}

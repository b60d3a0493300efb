import { Button } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { session } from '../session/session.ts'
import type { Search } from './search-of.ts'
import { queryOf, useEventSearch, wordsOf } from './search-of.ts'

const MOST_KEPT = 8
/** Milliseconds that a search stands before it is kept: those on the way to it are not. */
const STANDS = 1500

/** Searches of this user that this browser keeps, the latest first. */
export function Recent() {
  const { user } = useSuspenseQuery(session).data
  const at = `keyhook.event-searches.${user.id}`
  const search = useEventSearch()
  const [kept, setKept] = useState(() => read(at))
  const text = JSON.stringify(search)
  useEffect(() => {
    const current = JSON.parse(text) as Search
    if (Object.keys(queryOf(current)).length === 0) return undefined
    const timer = setTimeout(() => setKept((others) => keep(at, current, others)), STANDS)
    return () => clearTimeout(timer)
  }, [at, text])
  if (kept.length === 0) return null
  return (
    <details className="recent">
      <summary>Recent searches</summary>
      <ul aria-label="Recent searches">
        {kept.map((one) => (
          <li key={JSON.stringify(one)}>
            <Link to="/events" search={one}>
              {wordsOf(one)}
            </Link>
          </li>
        ))}
      </ul>
      <Button
        size="xs"
        variant="default"
        onClick={() => {
          store(at, [])
          setKept([])
        }}
      >
        Forget them
      </Button>
    </details>
  )
}

const NAMES = ['type', 'app', 'since', 'until', 'order'] as const

/** Whatever is stored may be of another version, or of somebody who edits it. */
function read(at: string): readonly Search[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(at) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isSearch).slice(0, MOST_KEPT) : []
  } catch {
    return []
  }
}

function isSearch(value: unknown): value is Search {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).every(
      ([name, one]) => (NAMES as readonly string[]).includes(name) && typeof one === 'string',
    )
  )
}

function keep(at: string, search: Search, before: readonly Search[]): readonly Search[] {
  const text = JSON.stringify(search)
  const others = before.filter((one) => JSON.stringify(one) !== text)
  const kept = [search, ...others].slice(0, MOST_KEPT)
  store(at, kept)
  return kept
}

function store(at: string, searches: readonly Search[]): void {
  try {
    localStorage.setItem(at, JSON.stringify(searches))
  } catch {
    // A browser that keeps nothing still shows those of this page.
  }
}

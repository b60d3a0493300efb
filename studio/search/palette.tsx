import './search.css'
import { Modal, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { KeyboardEvent } from 'react'
import { useEffect, useId, useState } from 'react'
import { Problem } from '../parts/problem.tsx'
import { session } from '../session/session.ts'
import type { Choice } from './choice.ts'
import { Choices } from './choices.tsx'
import { useRecent, useRecords } from './found.ts'
import type { Place } from './places.ts'
import { placesFor } from './places.ts'
import { remember } from './recent.ts'

/** Milliseconds without a key before anything is requested. */
const PAUSE = 200

/** Finds pages, actions and records, and leads to the one that is chosen. */
export function Palette({
  places,
  close,
}: {
  readonly places: readonly Place[]
  /** @param went whether to another page, so that the focus belongs there */
  readonly close: (went: boolean) => void
}) {
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const [searched] = useDebouncedValue(text, PAUSE)
  const recent = useRecent(text === '')
  const records = useRecords(searched)
  const choices = [
    ...recent,
    ...placesFor(text, places),
    // What was found for an earlier text is not shown for a later one.
    ...(searched === text ? records.choices : []),
  ]
  const { at, move, set } = useActive(choices)
  const { data } = useSuspenseQuery(session)
  const navigate = useNavigate()
  const list = useId()
  const isSearching = records.isSearching || searched !== text

  function choose({ to, params = {}, search = {}, record }: Choice): void {
    if (record !== undefined) remember(data.user.id, record)
    close(true)
    void navigate({ to, params, search: search as never })
  }

  function onKeyDown(event: KeyboardEvent): void {
    // The Enter that ends a composition chooses a word, not a page.
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const active = choices[at]
    if (step !== undefined) move(step)
    else if (event.key === 'Enter' && active !== undefined) choose(active)
    else return
    event.preventDefault()
  }

  return (
    <Modal
      opened
      onClose={() => close(false)}
      title="Search"
      returnFocus={false}
      centered={false}
      yOffset="8vh"
    >
      <TextInput
        data-autofocus
        role="combobox"
        aria-label="Pages, actions and records"
        aria-expanded={choices.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={choices.length === 0 ? undefined : `${list}-${at}`}
        autoComplete="off"
        spellCheck={false}
        placeholder="Name, id or page"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Choices id={list} of={choices} at={at} activate={set} choose={choose} />
      <p role="status" className="search-end quiet">
        {sayFound(text, choices.length, isSearching, records.parts)}
      </p>
      {records.error !== null && <Problem error={records.error} />}
    </Modal>
  )
}

function sayFound(
  text: string,
  count: number,
  isSearching: boolean,
  parts: readonly string[],
): string {
  if (text === '') return 'Apps, keys and webhooks by name or id; events by id or type.'
  if (isSearching) return 'Searching…'
  const older =
    parts.length === 0 ? '' : ` ${parts.join(', ')}: the newest 100; older ones by their whole id.`
  return (
    (count === 0 ? `Nothing matches “${text}”.` : count === 1 ? '1 match.' : `${count} matches.`) +
    older
  )
}

/** Which choice Enter takes: the same one while it is there, else the first. */
function useActive(choices: readonly Choice[]) {
  const [key, setKey] = useState<string>()
  const at = Math.max(
    0,
    choices.findIndex((choice) => choice.key === key),
  )
  const set = (next: number): void => setKey(choices[next]?.key)
  const isThere = choices.some((choice) => choice.key === key)
  useEffect(() => {
    if (!isThere) setKey(undefined)
  }, [isThere])
  return {
    at,
    set,
    move: (step: number): void => set((at + step + choices.length) % Math.max(1, choices.length)),
  }
}

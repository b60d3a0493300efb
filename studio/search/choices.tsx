import { useEffect, useRef } from 'react'
import { Icon } from '../parts/icon.tsx'
import type { Choice } from './choice.ts'
import { groupsOf } from './choice.ts'

/** The list below the field: the focus stays in the field, which names the active option. */
export function Choices({
  id,
  of: choices,
  at,
  activate,
  choose,
}: {
  readonly id: string
  readonly of: readonly Choice[]
  readonly at: number
  readonly activate: (at: number) => void
  readonly choose: (choice: Choice) => void
}) {
  const active = useRef<HTMLLIElement>(null)
  useEffect(() => {
    active.current?.scrollIntoView({ block: 'nearest' })
  }, [at, choices.length])
  return (
    <div role="listbox" id={id} aria-label="Matches" className="choices-found">
      {[...groupsOf(choices)].map(([group, of]) => (
        <ul key={group} role="group" aria-label={group}>
          <li role="presentation" aria-hidden="true" className="quiet">
            {group}
          </li>
          {of.map((choice) => {
            const index = choices.indexOf(choice)
            return (
              <li
                key={choice.key}
                ref={index === at ? active : null}
                role="option"
                id={`${id}-${index}`}
                aria-selected={index === at}
                // The field keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onMouseMove={() => index !== at && activate(index)}
                onClick={() => choose(choice)}
              >
                <Icon name={choice.icon} />
                <span className="choice-name">{choice.name}</span>
                {choice.detail !== undefined && (
                  <code className="quiet choice-detail">{choice.detail}</code>
                )}
              </li>
            )
          })}
        </ul>
      ))}
    </div>
  )
}

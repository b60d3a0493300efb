import { Button, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import { Icon } from './icon.tsx'
import './tokens.css'

export interface Proposal {
  readonly value: string
  readonly text?: string
}

/** Several values: each is a token with a button that removes it, and a field adds the next. */
export function Tokens({
  label,
  description,
  example,
  values,
  proposed,
  most,
  change,
}: {
  readonly label: string
  readonly description?: string
  readonly example: string
  readonly values: readonly string[]
  /** Values that are proposed; others can be typed too. */
  readonly proposed: readonly Proposal[]
  readonly most: number
  readonly change: (values: readonly string[]) => void
}) {
  const [typed, setTyped] = useState('')
  const list = useId()
  // One value alone is replaced by the next.
  const isFull = most > 1 && values.length >= most
  const textOf = (value: string): string =>
    proposed.find((one) => one.value === value)?.text ?? value
  function add(): void {
    const added = typed.split(/[\s,]+/).filter((one) => one !== '')
    setTyped('')
    const all = most === 1 ? added : [...new Set([...values, ...added])]
    if (added.length > 0) change(all.slice(0, most))
  }
  return (
    <div className="tokens">
      <TextInput
        label={label}
        description={isFull ? `At most ${most}.` : description}
        placeholder={example}
        value={typed}
        disabled={isFull}
        list={list}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || typed.trim() === '') return
          event.preventDefault()
          add()
        }}
      />
      <datalist id={list}>
        {proposed.map(({ value, text }) => (
          <option key={value} value={value} label={text} />
        ))}
      </datalist>
      {values.length > 0 && (
        <ul aria-label={`${label}: chosen`}>
          {values.map((value) => (
            <li key={value}>
              <code>{textOf(value)}</code>
              <Button
                size="compact-xs"
                variant="subtle"
                aria-label={`Remove ${textOf(value)}`}
                onClick={() => change(values.filter((one) => one !== value))}
              >
                <Icon name="close" />
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

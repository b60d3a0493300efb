import { NativeSelect, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

type Filter =
  | {
      readonly name: string
      readonly label: string
      readonly choices: readonly (readonly [value: string, text: string])[]
    }
  | {
      readonly name: string
      readonly label: string
      readonly example: string
    }

/** Filters that the service applies. They are in the address, so a search can be shared and repeated. */
export function Filters({ of }: { readonly of: readonly Filter[] }) {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const navigate = useNavigate()
  const set = (name: string, value: string): void => {
    const next = { ...search, [name]: value === '' ? undefined : value }
    void navigate({ to: '.', search: next as never, replace: true })
  }
  return (
    <div role="search" className="filters">
      {of.map((filter) => {
        const { name, label } = filter
        const value = search[name] ?? ''
        return 'choices' in filter ? (
          <NativeSelect
            key={name}
            label={label}
            value={value}
            data={filter.choices.map(([one, text]) => ({ value: one, label: text }))}
            onChange={(event) => set(name, event.currentTarget.value)}
          />
        ) : (
          <TextFilter
            // What was typed is the filter once it is entered; an address that changes wins.
            key={`${name} ${value}`}
            label={label}
            example={filter.example}
            value={value}
            set={(next) => set(name, next)}
          />
        )
      })}
    </div>
  )
}

function TextFilter({
  label,
  example,
  value,
  set,
}: {
  readonly label: string
  readonly example: string
  readonly value: string
  readonly set: (value: string) => void
}) {
  const [typed, setTyped] = useState(value)
  const enter = (): void => {
    if (typed.trim() !== value) set(typed.trim())
  }
  return (
    <TextInput
      label={label}
      placeholder={example}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={enter}
      onKeyDown={({ key }) => {
        if (key === 'Enter') enter()
      }}
    />
  )
}

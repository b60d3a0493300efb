import { TextInput } from '@mantine/core'
import type { Settings } from './settings-of.ts'

/** Where events are sent, and what for. */
export function Address({
  of: { url, description },
  fixed = false,
  change,
}: {
  readonly of: Settings
  /** Of a webhook whose address is not a person's to choose. */
  readonly fixed?: boolean
  readonly change: (changes: Partial<Settings>) => void
}) {
  return (
    <>
      <TextInput
        label="Address"
        description="A public https address, or a destination that the operator declares."
        placeholder="https://example.com/in"
        required
        readOnly={fixed}
        maxLength={2048}
        value={url}
        onChange={(event) => change({ url: event.currentTarget.value })}
      />
      <TextInput
        label="Description (optional)"
        maxLength={500}
        value={description}
        onChange={(event) => change({ description: event.currentTarget.value })}
      />
    </>
  )
}

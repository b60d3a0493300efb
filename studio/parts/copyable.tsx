import { useClipboard } from '@mantine/hooks'
import { Icon } from './icon.tsx'

/** A text in monospace that a click copies. */
export function Copyable({
  text,
  what,
  shown = text,
}: {
  readonly text: string
  /** Noun of the text, for people who cannot see it. */
  readonly what: string
  readonly shown?: string
}) {
  const { copy, copied } = useClipboard({ timeout: 1500 })
  return (
    <button
      type="button"
      className="copyable"
      title={`Copy ${what}`}
      aria-label={`${copied ? 'Copied' : 'Copy'} ${what} ${text}`}
      onClick={() => copy(text)}
    >
      <code>{shown}</code>
      <Icon name={copied ? 'done' : 'copy'} />
    </button>
  )
}

import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { Icon } from '../parts/icon.tsx'

/** A file or a command, to read and to copy. */
export function Snippet({ name, text }: { readonly name: string; readonly text: string }) {
  const { copy, copied } = useClipboard({ timeout: 2000 })
  return (
    <figure className="snippet">
      <figcaption>
        <code>{name}</code>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name={copied ? 'done' : 'copy'} />}
          onClick={() => copy(text)}
        >
          {copied ? 'Copied' : 'Copy'}
          <span className="hidden"> {name}</span>
        </Button>
      </figcaption>
      <pre tabIndex={0} aria-label={name}>
        {text}
      </pre>
    </figure>
  )
}

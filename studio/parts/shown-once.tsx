import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import { Icon } from './icon.tsx'

/** Of a dialog around it: only the button that says so leaves a value that is never shown again. */
export const STAYS = {
  closeOnClickOutside: false,
  closeOnEscape: false,
  withCloseButton: false,
} as const

/** A value that is never shown again: to copy, and to download as a file of environment variables. */
export function ShownOnce({
  what,
  value,
  variable,
  kept,
  children,
}: {
  /** Noun of the value. */
  readonly what: string
  readonly value: string
  /** Name in the downloaded file. */
  readonly variable: string
  /** Called once it was copied or downloaded. */
  readonly kept?: () => void
  /** Where to go from here. */
  readonly children: ReactNode
}) {
  const { copy, copied, error } = useClipboard({ timeout: 2000 })
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  useEffect(() => {
    if (copied) kept?.()
  }, [copied, kept])
  return (
    <section className="once" aria-labelledby="once">
      <h2 id="once" ref={heading} tabIndex={-1}>
        Copy the {what} now
      </h2>
      <p>It is shown this once. Whoever has it can use it, so keep it where secrets are kept.</p>
      <pre tabIndex={0} aria-label={what}>
        {value}
      </pre>
      <div className="buttons">
        <Button leftSection={<Icon name={copied ? 'done' : 'copy'} />} onClick={() => copy(value)}>
          {copied ? 'Copied' : `Copy ${what}`}
        </Button>
        <Button
          variant="default"
          onClick={() => {
            download(`${variable}=${value}\n`)
            kept?.()
          }}
        >
          Download .env
        </Button>
        {children}
      </div>
      {error !== null && (
        <p role="status">The browser did not let it be copied. Select it, and copy it yourself.</p>
      )}
    </section>
  )
}

function download(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'keyhook.env'
  link.click()
  URL.revokeObjectURL(url)
}

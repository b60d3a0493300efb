import { CloseButton } from '@mantine/core'
import type { DragEvent } from 'react'
import { useId, useRef, useState } from 'react'

/** Files by drag and drop, or by the browser's own dialog. */
export function DropZone({
  label,
  hint,
  chosen,
  choose,
}: {
  readonly label: string
  readonly hint: string
  readonly chosen: readonly File[]
  readonly choose: (files: readonly File[]) => void
}) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const add = (files: FileList | null): void => {
    if (files !== null && files.length > 0) choose([...chosen, ...files])
  }
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    add(event.dataTransfer.files)
  }
  return (
    <div
      className="drop"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <label htmlFor={id}>{label}</label>
      <p className="quiet">{hint} Drop files here, or choose them.</p>
      <input
        ref={input}
        id={id}
        type="file"
        multiple
        onChange={({ currentTarget }) => {
          add(currentTarget.files)
          // The same file can be chosen again.
          currentTarget.value = ''
        }}
      />
      {chosen.length > 0 && (
        <ul aria-label="Chosen files">
          {chosen.map((file, at) => (
            <li key={`${at} ${file.name}`}>
              {file.name} <span className="quiet">{sizeOf(file.size)}</span>
              <CloseButton
                size="sm"
                aria-label={`Remove ${file.name}`}
                onClick={() => choose(chosen.filter((one) => one !== file))}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** `12 kB`: a size with at most one decimal. */
export function sizeOf(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3))
  const unit = UNITS[power] ?? 'byte'
  const unitDisplay = unit === 'byte' ? 'long' : 'short'
  const format = { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(undefined, format).format(bytes / 1000 ** power)
}

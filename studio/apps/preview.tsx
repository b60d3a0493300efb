import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useApp } from './app.ts'

const WIDTHS = [
  { value: 'full', label: 'All of it' },
  { value: 'phone', label: 'A phone' },
]

/**
 * What an app may do in its frame. It keeps its own origin, which is never ours, so it has storage of its own; it can
 * neither navigate this page nor open dialogs over it.
 */
const SANDBOX = 'allow-scripts allow-same-origin allow-forms allow-popups'

/** The current files of an app, on the apps' own host: another origin, which cannot reach this page. */
export function Preview() {
  const { id, status, current_revision: revision, preview_url: url } = useApp()
  const [width, setWidth] = useState('full')
  const [turn, setTurn] = useState(0)
  const isOwn = url !== null && new URL(url).origin === location.origin
  if (url === null || revision === null || status === 'creating' || isOwn) {
    return <p className="quiet">{sentenceOf(url)}</p>
  }
  return (
    <section className="preview" aria-label="Preview" data-width={width}>
      <div className="preview-bar">
        <span className="quiet">Revision {revision}</span>
        <NativeSelect
          size="xs"
          aria-label="Width of the preview"
          value={width}
          data={WIDTHS}
          onChange={(event) => setWidth(event.currentTarget.value)}
        />
        <Button size="xs" variant="default" onClick={() => setTurn(turn + 1)}>
          Reload preview
        </Button>
        <a href={url} target="_blank" rel="noopener noreferrer">
          Open preview
        </a>
      </div>
      <iframe
        key={`${id} ${revision} ${turn}`}
        title="Preview of the app"
        src={url}
        sandbox={SANDBOX}
        referrerPolicy="no-referrer"
      />
    </section>
  )
}

function sentenceOf(url: string | null): string {
  return url === null
    ? 'This daemon serves no apps, so there is no preview.'
    : 'The preview appears as soon as the app is made.'
}

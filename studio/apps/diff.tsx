import type { Comparison } from '../api/client.ts'
import type { DiffLine } from './unified.ts'
import { filesOf } from './unified.ts'

const WITHOUT: Readonly<Record<string, string>> = {
  binary: 'It is not text, so there is nothing to compare line by line.',
  too_large: 'It is larger than 256 KiB, so its lines are not compared.',
  too_many: 'Its lines are left out, because the others fill 256 KiB.',
}

const CHANGES = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const
const SIGNS = { added: '+', removed: '-', kept: ' ', place: '' } as const

/** What differs between two revisions: configuration, then file by file. */
export function Diff({ of: { files, config, diff } }: { readonly of: Comparison }) {
  const lines = filesOf(diff)
  if (files.length === 0 && config.length === 0) return <p className="quiet">Nothing differs.</p>
  return (
    <>
      {config.length > 0 && (
        <ul aria-label="Configuration">
          {config.map(({ key, before, after }) => (
            <li key={key}>
              <code>{key}</code>: <code>{before ?? 'unset'}</code> → <code>{after ?? 'unset'}</code>
            </li>
          ))}
        </ul>
      )}
      {files.map(({ path, change, added, removed, omitted }) => (
        <details key={path} className="diff" open>
          <summary>
            <code>{path}</code> {CHANGES[change]}
            {added !== null && removed !== null && (
              <span className="quiet">
                {' '}
                +{added} −{removed}
              </span>
            )}
          </summary>
          {omitted === null ? (
            <Lines of={lines.get(path) ?? []} label={`Changes of ${path}`} />
          ) : (
            <p className="quiet">{WITHOUT[omitted]}</p>
          )}
        </details>
      ))}
    </>
  )
}

function Lines({ of, label }: { readonly of: readonly DiffLine[]; readonly label: string }) {
  return (
    <pre tabIndex={0} aria-label={label}>
      {of.map(({ kind, text }, at) => (
        <span key={at} data-line={kind}>
          {SIGNS[kind]}
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

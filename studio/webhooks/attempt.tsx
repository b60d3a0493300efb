import type { Attempt } from '../api/client.ts'
import { FullInstant } from '../parts/instant.tsx'
import { State } from '../parts/state.tsx'
import { reasonOf } from './cause.ts'

const TRIGGERS: Readonly<Record<Attempt['trigger'], string>> = {
  event: 'sent with its event',
  retry: 'retried by schedule',
  manual: 'resent by hand',
  test: 'a test',
  replay: 'replayed',
}

/** One attempt: when, why, how long, and what the receiver responded. */
export function AttemptView({ of: attempt }: { readonly of: Attempt }) {
  const { number, trigger, started_at, duration_ms, response, error } = attempt
  return (
    <div className="attempt">
      <p>
        <State of={error === null ? 'succeeded' : 'exhausted'} /> Attempt {number},{' '}
        {TRIGGERS[trigger]}
      </p>
      <p className="quiet">
        <FullInstant at={started_at} />, {duration_ms} ms
      </p>
      {error !== null && (
        <p>
          {reasonOf(attempt)} <code className="quiet">{error.reason ?? error.code}</code>
        </p>
      )}
      {response !== null && (
        <>
          <p>
            Response <strong>{response.status_code}</strong>
            {response.body === null && ', with a body that is empty or not kept'}
          </p>
          {response.body !== null && (
            <pre tabIndex={0} aria-label={`Response body of attempt ${number}`}>
              {response.body}
            </pre>
          )}
        </>
      )}
    </div>
  )
}

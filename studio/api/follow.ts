import { useEffect, useState } from 'react'
import { queries } from './client.ts'

interface Line {
  readonly number: number
  readonly message: string
}

/** What the stream of a piece of work has told so far. */
export interface Followed<State> {
  readonly lines: readonly Line[]
  /** Undefined until the stream told one. */
  readonly state: State | undefined
}

/**
 * Follows work that has a stream of events, until its end; afterwards every list is read again.
 *
 * @param path of the stream, below the service; undefined follows nothing
 */
export function useFollowed<State>(path: string | undefined): Followed<State> {
  const [followed, setFollowed] = useState<Followed<State>>({ lines: [], state: undefined })
  useEffect(() => {
    if (path === undefined) return undefined
    setFollowed({ lines: [], state: undefined })
    const source = new EventSource(new URL(`..${path}`, document.baseURI))
    const on = (event: string, take: (data: string) => void): void =>
      source.addEventListener(event, ({ data }: MessageEvent<string>) => take(data))
    const setState = (data: string): void =>
      setFollowed(({ lines }) => ({ lines, state: JSON.parse(data) as State }))
    on('line', (data) => {
      const line = JSON.parse(data) as Line
      setFollowed(({ lines, state }) => ({
        // A stream that reconnects may repeat a line.
        lines: [...lines.filter(({ number }) => number !== line.number), line],
        state,
      }))
    })
    on('status', setState)
    on('end', (data) => {
      source.close()
      setState(data)
      void queries.invalidateQueries()
    })
    return () => source.close()
  }, [path])
  return followed
}

import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem } from './problem.tsx'

/** The content of a query; rows shaped like it until it is there, and the problem when it fails. */
export function Loaded<T>({
  query,
  children,
}: {
  readonly query: UseQueryResult<T>
  readonly children: (data: T) => ReactNode
}) {
  const { data, error, refetch } = query
  return (
    <>
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data !== undefined && children(data)}
      {data === undefined && error === null && <Waiting />}
    </>
  )
}

function Waiting() {
  return (
    <div role="status" aria-label="Loading" className="waiting">
      {Array.from({ length: 6 }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  )
}

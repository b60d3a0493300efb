import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiError } from 'keyhook/client'
import { Problem } from '../parts/problem.tsx'

interface Quote {
  readonly required_micros: number
  readonly required: string
  readonly available_micros: number | null
  readonly currency: string | null
  readonly sufficient: boolean
}

/** What work will cost, before it is asked for. */
export function Price({ query }: { readonly query: UseQueryResult<Quote> }) {
  const { data, error } = query
  // Not a failure of anything: the operator has not set one up.
  if (error instanceof ApiError && error.code === 'model_not_configured') {
    return <p className="quiet price">{error.message}</p>
  }
  if (error !== null) return <Problem error={error} />
  return (
    <p className="quiet price" role="status">
      {data === undefined ? 'Reading the price…' : <Sentence of={data} />}
    </p>
  )
}

function Sentence({ of: quote }: { readonly of: Quote }) {
  const { required_micros: amount, required, currency, available_micros: left, sufficient } = quote
  if (amount === 0) return <>This costs nothing.</>
  const price = `${currency ?? ''} ${required}`.trim()
  if (sufficient) return <>This costs {price}. It is free when it fails.</>
  return (
    <>
      This costs {price}, which your credit does not cover
      {left === null ? '' : ` (${left / 1_000_000} left)`}. <Link to="/billing">Show billing</Link>
    </>
  )
}

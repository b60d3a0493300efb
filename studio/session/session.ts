import { queryOptions } from '@tanstack/react-query'
import { ApiError } from 'keyhook/client'
import { api } from '../api/client.ts'

/** Who is signed in. It only changes by what this page does. */
export const session = queryOptions({
  queryKey: ['accounts', 'session'],
  queryFn: () => api.accounts.session(),
  staleTime: Number.POSITIVE_INFINITY,
})

const SIGNED_OUT: ReadonlySet<string> = new Set([
  'missing_credentials',
  'session_required',
  'session_expired',
])

export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && SIGNED_OUT.has(error.code)
}

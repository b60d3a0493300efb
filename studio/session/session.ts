import { queryOptions } from '@tanstack/react-query'
import { ApiError } from 'keyhook/client'
import type { Session } from '../api/client.ts'
import { api, queries } from '../api/client.ts'

/** Another tab signed in as another user: this page shows the data of one, and would act for the other. */
export class OtherUserError extends Error {
  readonly email: string

  constructor(email: string) {
    super(
      `Another tab of this browser signed in as ${email}. Reload this page to go on as ${email}.`,
    )
    this.email = email
  }
}

const KEY = ['accounts', 'session']

/** Who is signed in. All tabs have one session, so it is read again when a person comes back to this one. */
export const session = queryOptions({
  queryKey: KEY,
  queryFn: readSession,
  staleTime: Number.POSITIVE_INFINITY,
  refetchOnWindowFocus: 'always',
})

/** @throws OtherUserError when it is another user's than the one whose data this page shows */
async function readSession(): Promise<Session> {
  const shown = queries.getQueryData<Session>(KEY)
  const current = await api.accounts.session()
  if (shown !== undefined && shown.user.id !== current.user.id) {
    throw new OtherUserError(current.user.email)
  }
  return current
}

/** Before an action: it is refused rather than done for another user. */
export async function requireSameUser(): Promise<void> {
  await queries.fetchQuery({ ...session, staleTime: 0 })
}

const SIGNED_OUT: ReadonlySet<string> = new Set([
  'missing_credentials',
  'session_required',
  'session_expired',
])

export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && SIGNED_OUT.has(error.code)
}

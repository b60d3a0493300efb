import { ApiError } from 'keyhook/client'
import { actWith, api, queries } from '../api/client.ts'
import type { PortalSession } from '../api/client.ts'
import { isSignedOut } from '../session/session.ts'

/** Why there is no session: the page was opened without a link, or loaded again; or its session has ended. */
export type Absence = 'no link' | 'ended'

/** What the page has. */
export type Opened =
  | { readonly session: PortalSession }
  | { readonly absence: Absence }
  | { readonly error: unknown }

const TOKEN = /^#token=([\w-]{1,200})$/

/**
 * Exchanges the token in the page's address for a session, which this page alone has, in memory. The token leaves the
 * address and the history before anything else happens.
 */
export async function openSession(): Promise<Opened> {
  const [, token] = TOKEN.exec(location.hash) ?? []
  history.replaceState(null, '', location.pathname + location.search)
  if (token === undefined) return { absence: 'no link' }
  try {
    const { token: bearer, ...session } = await api.portal.open({ token })
    actWith(bearer)
    return { session }
  } catch (error) {
    return { error }
  }
}

/** A frame that is given another link may only have its fragment changed, which loads nothing by itself. */
export function followLinks(): void {
  addEventListener('hashchange', () => {
    if (TOKEN.test(location.hash)) location.reload()
  })
}

/** Ends the session, for everybody who has it. */
export async function endSession(): Promise<void> {
  await api.portal.signOut().catch((error: unknown) => {
    if (!isSignedOut(error)) throw error
  })
}

/** Calls `ended` once the service no longer knows the session, whichever call notices it; returns how to stop. */
export function watchSession(ended: () => void): () => void {
  const note = (error: unknown): void => {
    if (error instanceof ApiError && (isSignedOut(error) || error.code === 'account_suspended'))
      ended()
  }
  const stopReads = queries.getQueryCache().subscribe(({ query }) => note(query.state.error))
  const stopActs = queries
    .getMutationCache()
    .subscribe(({ mutation }) => note(mutation?.state.error))
  return () => {
    stopReads()
    stopActs()
  }
}

/** Nothing that was read stays in the page. */
export function forgetSession(): void {
  actWith(null)
  queries.clear()
}

import { redirect } from '@tanstack/react-router'
import { queries } from '../api/client.ts'
import { isSignedOut, session } from '../session/session.ts'
import { Frame } from './frame.tsx'
import { insideOf } from './root.tsx'

/** Parent of every page of Studio that needs a user's session. */
export const inside = insideOf(Frame, async ({ pathname, publicHref }) => {
  try {
    await queries.ensureQueryData(session)
  } catch (error) {
    if (!isSignedOut(error)) throw error
    const to = pathname === '/' ? undefined : publicHref
    redirect({ to: '/sign-in', search: to === undefined ? {} : { to }, throw: true })
  }
})

import { RouterProvider } from '@tanstack/react-router'
import { use, useEffect, useMemo, useState } from 'react'
import type { PortalSession } from '../api/client.ts'
import { Problem } from '../parts/problem.tsx'
import type { Reach } from '../shell/reach.ts'
import { Reaching } from '../shell/reach.ts'
import { createPortalRouter } from './router.tsx'
import type { Absence, Opened } from './session.ts'
import { forgetSession, watchSession } from './session.ts'

/** The portal, or why there is none and what to do. */
export function Portal({ opening }: { readonly opening: Promise<Opened> }) {
  const opened = use(opening)
  const [hasEnded, setEnded] = useState(false)
  if (hasEnded) return <NoSession why="ended" />
  if ('session' in opened) return <Pages of={opened.session} ended={() => setEnded(true)} />
  return 'absence' in opened ? (
    <NoSession why={opened.absence} />
  ) : (
    <main className="alone">
      <h1>The portal did not open</h1>
      <Problem error={opened.error} />
    </main>
  )
}

const TEXTS: Readonly<Record<Absence, readonly [title: string, text: string]>> = {
  'no link': [
    'Open the portal again',
    'A page of the portal lasts until it is closed or loaded again. Go back to where you came from, and open it from there.',
  ],
  ended: [
    'The session has ended',
    'Nothing that you saved is lost. Go back to where you came from, and open the portal from there.',
  ],
}

function NoSession({ why }: { readonly why: Absence }) {
  const [title, text] = TEXTS[why]
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <main className="alone">
      <h1>{title}</h1>
      <p>{text}</p>
    </main>
  )
}

function Pages({ of: session, ended }: { readonly of: PortalSession; readonly ended: () => void }) {
  const reach: Reach = useMemo(
    () => ({ part: '', scopes: new Set(session.scopes), delegable: session.delegable }),
    [session],
  )
  const end = useMemo(
    () => () => {
      forgetSession()
      ended()
    },
    [ended],
  )
  const [router] = useState(() => createPortalRouter(session, end))
  useEffect(() => watchSession(end), [end])
  return (
    <Reaching value={reach}>
      <RouterProvider router={router} />
    </Reaching>
  )
}

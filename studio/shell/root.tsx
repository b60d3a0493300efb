import { createRootRoute, createRoute, redirect } from '@tanstack/react-router'
import { queries } from '../api/client.ts'
import { Problem } from '../parts/problem.tsx'
import { isSignedOut, session } from '../session/session.ts'
import { Frame } from './frame.tsx'

export const root = createRootRoute({ notFoundComponent: NotFound, errorComponent: Failed })

/** Parent of every page that needs a session. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Frame,
  async beforeLoad({ location }) {
    try {
      await queries.ensureQueryData(session)
    } catch (error) {
      if (!isSignedOut(error)) throw error
      const to = location.pathname === '/' ? undefined : location.publicHref
      redirect({ to: '/sign-in', search: to === undefined ? {} : { to }, throw: true })
    }
  },
})

/** Search parameters that are texts; others are dropped. */
export function textsOf<const Name extends string>(...names: readonly Name[]) {
  return (search: Readonly<Record<string, unknown>>): { [One in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return typeof value === 'string' && value !== '' ? [[name, value]] : []
      }),
    ) as { [One in Name]?: string }
}

function Failed({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  return (
    <main className="alone">
      <Problem error={error} retry={reset} />
    </main>
  )
}

function NotFound() {
  return (
    <main className="alone">
      <h1>There is no such page</h1>
      <p>
        <a href={document.baseURI}>Go to the first page</a>
      </p>
    </main>
  )
}

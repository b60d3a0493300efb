import type { ParsedLocation } from '@tanstack/react-router'
import { Link, createRootRoute, createRoute } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Problem } from '../parts/problem.tsx'

export const root = createRootRoute({ notFoundComponent: NotFound, errorComponent: Failed })

/** Parent of the pages that need a session, of one kind on one page: `admit` redirects whoever has none. */
export function insideOf(component: () => ReactNode, admit: (at: ParsedLocation) => Promise<void>) {
  return createRoute({
    getParentRoute: () => root,
    id: 'inside',
    component,
    beforeLoad: ({ location }) => admit(location),
  })
}

export type Inside = ReturnType<typeof insideOf>

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
        <Link to="/">Go to the first page</Link>
      </p>
    </main>
  )
}

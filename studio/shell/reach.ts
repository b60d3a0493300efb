import { createContext, useContext } from 'react'

/** What whoever is at this page may do, and what it is called. */
export interface Reach {
  /** After the brand, in titles; empty for nothing. */
  readonly part: string
  /** Scopes of the session; undefined for a user, who has all. */
  readonly scopes: ReadonlySet<string> | undefined
  /** Every single scope that keys may get; undefined: every one of the service. */
  readonly delegable: readonly string[] | undefined
}

export const Reaching = createContext<Reach>({
  part: 'Studio',
  scopes: undefined,
  delegable: undefined,
})

/** A user's reach, unless the page is the portal's. */
export function useReach(): Reach & {
  /** Whether this is Studio, with all its pages and the command line beside it. */
  readonly isStudio: boolean
  may(scope: string): boolean
} {
  const reach = useContext(Reaching)
  const { scopes } = reach
  return {
    ...reach,
    isStudio: scopes === undefined,
    may: (scope) => scopes === undefined || covers(scopes, scope),
  }
}

/** Whether a list of scopes already grants one: by itself, by its family, or by all families. */
export function covers(held: ReadonlySet<string>, scope: string): boolean {
  const [family, action] = scope.split(':')
  return (
    held.has(scope) ||
    held.has('*:*') ||
    held.has(`${family}:*`) ||
    (action === 'read' && held.has('*:read'))
  )
}

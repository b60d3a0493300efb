import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import type { PortalSession } from '../api/client.ts'
import { keyRoutes } from '../keys/routes.ts'
import { covers } from '../shell/reach.ts'
import { insideOf, root } from '../shell/root.tsx'
import { webhookRoutes } from '../webhooks/routes.ts'
import type { Place } from '../search/places.ts'
import { PortalFrame } from './frame.tsx'

const PLACES = [
  ['keys:read', ['Keys', '/keys', 'keys']],
  ['webhooks:read', ['Webhooks', '/webhooks', 'webhooks']],
] as const satisfies readonly (readonly [scope: string, place: Place])[]

/** Studio's pages of keys and webhooks, those that the session may read, and no others. */
export function createPortalRouter({ scopes }: PortalSession, ended: () => void) {
  const held = new Set(scopes)
  const places: readonly Place[] = PLACES.flatMap(([scope, place]) =>
    covers(held, scope) ? [place] : [],
  )
  const inside = insideOf(
    () => <PortalFrame places={places} ended={ended} />,
    () => Promise.resolve(),
  )
  const first = createRoute({
    getParentRoute: () => root,
    path: '/',
    beforeLoad: () => {
      redirect({ to: places[0]?.[1] ?? '/nothing', replace: true, throw: true })
    },
  })
  const pages = [
    ...(covers(held, 'keys:read') ? keyRoutes(inside) : []),
    ...(covers(held, 'webhooks:read') ? webhookRoutes(inside) : []),
  ]
  return createRouter({
    routeTree: root.addChildren([first, inside.addChildren(pages)]),
    basepath: new URL(document.baseURI).pathname,
    defaultPreload: 'intent',
  })
}

import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { Inside } from '../shell/root.tsx'
import { textsOf } from '../shell/root.tsx'

/** The pages of keys, below a page's session. */
export function keyRoutes(inside: Inside) {
  const keys = createRoute({
    getParentRoute: () => inside,
    path: '/keys',
    validateSearch: textsOf('status'),
    component: lazyRouteComponent(() => import('./list.tsx'), 'Page'),
  })

  const newKey = createRoute({
    getParentRoute: () => inside,
    path: '/keys/new',
    component: lazyRouteComponent(() => import('./create.tsx'), 'Page'),
  })

  const key = createRoute({
    getParentRoute: () => inside,
    path: '/keys/$keyId',
    component: lazyRouteComponent(() => import('./detail.tsx'), 'Page'),
  })

  return [keys, newKey, key] as const
}

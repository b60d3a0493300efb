import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { Inside } from '../shell/root.tsx'
import { textsOf } from '../shell/root.tsx'

/** The pages of webhooks, below a page's session. */
export function webhookRoutes(inside: Inside) {
  const webhooks = createRoute({
    getParentRoute: () => inside,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('./list.tsx'), 'Page'),
  })

  const newWebhook = createRoute({
    getParentRoute: () => inside,
    path: '/webhooks/new',
    validateSearch: textsOf('language', 'framework'),
    component: lazyRouteComponent(() => import('./create.tsx'), 'Page'),
  })

  const webhook = createRoute({
    getParentRoute: () => inside,
    path: '/webhooks/$webhookId',
    validateSearch: textsOf('status', 'type', 'event'),
    component: lazyRouteComponent(() => import('./detail.tsx'), 'Page'),
  })

  const receiver = createRoute({
    getParentRoute: () => inside,
    path: '/webhooks/$webhookId/receiver',
    validateSearch: textsOf('language', 'framework'),
    component: lazyRouteComponent(() => import('./receiver.tsx'), 'Page'),
  })

  const settings = createRoute({
    getParentRoute: () => inside,
    path: '/webhooks/$webhookId/settings',
    component: lazyRouteComponent(() => import('./settings.tsx'), 'Page'),
  })

  const delivery = createRoute({
    getParentRoute: () => inside,
    path: '/webhooks/$webhookId/deliveries/$deliveryId',
    component: lazyRouteComponent(() => import('./delivery.tsx'), 'Page'),
  })

  return [webhooks, newWebhook, webhook, receiver, settings, delivery] as const
}

import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { appRoutes } from './apps/routes.ts'
import { operatorRoutes } from './operator/routes.ts'
import { inside, root, textsOf } from './shell/root.tsx'

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: textsOf('to'),
  component: lazyRouteComponent(() => import('./session/sign-in.tsx'), 'Page'),
})

const home = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: lazyRouteComponent(() => import('./home/page.tsx'), 'Page'),
})

const keys = createRoute({
  getParentRoute: () => inside,
  path: '/keys',
  validateSearch: textsOf('status'),
  component: lazyRouteComponent(() => import('./keys/list.tsx'), 'Page'),
})

const newKey = createRoute({
  getParentRoute: () => inside,
  path: '/keys/new',
  component: lazyRouteComponent(() => import('./keys/create.tsx'), 'Page'),
})

const key = createRoute({
  getParentRoute: () => inside,
  path: '/keys/$keyId',
  component: lazyRouteComponent(() => import('./keys/detail.tsx'), 'Page'),
})

const webhooks = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./webhooks/list.tsx'), 'Page'),
})

const newWebhook = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/new',
  validateSearch: textsOf('language', 'framework'),
  component: lazyRouteComponent(() => import('./webhooks/create.tsx'), 'Page'),
})

const webhook = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId',
  validateSearch: textsOf('status', 'type', 'event'),
  component: lazyRouteComponent(() => import('./webhooks/detail.tsx'), 'Page'),
})

const receiver = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId/receiver',
  validateSearch: textsOf('language', 'framework'),
  component: lazyRouteComponent(() => import('./webhooks/receiver.tsx'), 'Page'),
})

const webhookSettings = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId/settings',
  component: lazyRouteComponent(() => import('./webhooks/settings.tsx'), 'Page'),
})

const delivery = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId/deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./webhooks/delivery.tsx'), 'Page'),
})

const events = createRoute({
  getParentRoute: () => inside,
  path: '/events',
  validateSearch: textsOf('type', 'app', 'since', 'until', 'order'),
  component: lazyRouteComponent(() => import('./events/list.tsx'), 'Page'),
})

const event = createRoute({
  getParentRoute: () => inside,
  path: '/events/$eventId',
  component: lazyRouteComponent(() => import('./events/detail.tsx'), 'Page'),
})

const billing = createRoute({
  getParentRoute: () => inside,
  path: '/billing',
  component: lazyRouteComponent(() => import('./billing/page.tsx'), 'Page'),
})

const ledger = createRoute({
  getParentRoute: () => inside,
  path: '/billing/ledger',
  validateSearch: textsOf('kind', 'app'),
  component: lazyRouteComponent(() => import('./billing/ledger.tsx'), 'Page'),
})

const audit = createRoute({
  getParentRoute: () => inside,
  path: '/audit',
  validateSearch: textsOf('action', 'actor', 'target'),
  component: lazyRouteComponent(() => import('./audit/page.tsx'), 'Page'),
})

const members = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/members.tsx'), 'Page'),
})

const sessions = createRoute({
  getParentRoute: () => inside,
  path: '/sessions',
  component: lazyRouteComponent(() => import('./session/list.tsx'), 'Page'),
})

const pages = [
  home,
  ...appRoutes,
  billing,
  ledger,
  keys,
  newKey,
  key,
  webhooks,
  newWebhook,
  webhook,
  receiver,
  webhookSettings,
  delivery,
  events,
  event,
  audit,
  members,
  sessions,
] as const

const routeTree = root.addChildren([signIn, inside.addChildren(pages), ...operatorRoutes])

export const router = createRouter({
  routeTree,
  basepath: new URL(document.baseURI).pathname,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { appRoutes } from './apps/routes.ts'
import { keyRoutes } from './keys/routes.ts'
import { operatorRoutes } from './operator/routes.ts'
import { inside } from './shell/inside.ts'
import { root, textsOf } from './shell/root.tsx'
import { webhookRoutes } from './webhooks/routes.ts'

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
  validateSearch: textsOf('from'),
  component: lazyRouteComponent(() => import('./billing/page.tsx'), 'Page'),
})

const ledger = createRoute({
  getParentRoute: () => inside,
  path: '/billing/ledger',
  validateSearch: textsOf('kind', 'app'),
  component: lazyRouteComponent(() => import('./billing/ledger.tsx'), 'Page'),
})

const invoices = createRoute({
  getParentRoute: () => inside,
  path: '/billing/invoices',
  component: lazyRouteComponent(() => import('./billing/invoices.tsx'), 'Page'),
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
  invoices,
  ...keyRoutes(inside),
  ...webhookRoutes(inside),
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

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { Problem } from './parts/problem.tsx'
import { isSignedOut, session } from './session/session.ts'
import { Frame } from './shell/frame.tsx'

const root = createRootRoute({ notFoundComponent: NotFound, errorComponent: Failed })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: textsOf('to'),
  component: lazyRouteComponent(() => import('./session/sign-in.tsx'), 'Page'),
})

/** Everything else needs a session. */
const inside = createRoute({
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
  component: lazyRouteComponent(() => import('./webhooks/create.tsx'), 'Page'),
})

const webhook = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId',
  validateSearch: textsOf('status', 'type', 'event'),
  component: lazyRouteComponent(() => import('./webhooks/detail.tsx'), 'Page'),
})

const delivery = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId/deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./webhooks/delivery.tsx'), 'Page'),
})

const events = createRoute({
  getParentRoute: () => inside,
  path: '/events',
  validateSearch: textsOf('type'),
  component: lazyRouteComponent(() => import('./events/list.tsx'), 'Page'),
})

const event = createRoute({
  getParentRoute: () => inside,
  path: '/events/$eventId',
  component: lazyRouteComponent(() => import('./events/detail.tsx'), 'Page'),
})

const pages = [
  home,
  keys,
  newKey,
  key,
  webhooks,
  newWebhook,
  webhook,
  delivery,
  events,
  event,
] as const

const routeTree = root.addChildren([signIn, inside.addChildren(pages)])

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

/** Search parameters that are texts; others are dropped. */
function textsOf<const Name extends string>(...names: readonly Name[]) {
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

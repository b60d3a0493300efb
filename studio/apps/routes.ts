import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { inside } from '../shell/inside.ts'
import { textsOf } from '../shell/root.tsx'

const apps = createRoute({
  getParentRoute: () => inside,
  path: '/apps',
  component: lazyRouteComponent(() => import('./list.tsx'), 'Page'),
})

const newApp = createRoute({
  getParentRoute: () => inside,
  path: '/apps/new',
  validateSearch: textsOf('from', 'template'),
  component: lazyRouteComponent(() => import('./create.tsx'), 'Page'),
})

/** Title, state and tabs of an app, around its pages. */
const app = createRoute({
  getParentRoute: () => inside,
  path: '/apps/$appId',
  component: lazyRouteComponent(() => import('./frame.tsx'), 'AppFrame'),
})

const build = createRoute({
  getParentRoute: () => app,
  path: '/',
  component: lazyRouteComponent(() => import('./build.tsx'), 'Page'),
})

const edit = createRoute({
  getParentRoute: () => app,
  path: '/edits/$editId',
  component: lazyRouteComponent(() => import('./edit.tsx'), 'Page'),
})

const files = createRoute({
  getParentRoute: () => app,
  path: '/files',
  validateSearch: textsOf('path'),
  component: lazyRouteComponent(() => import('./files.tsx'), 'Page'),
})

const revisions = createRoute({
  getParentRoute: () => app,
  path: '/revisions',
  component: lazyRouteComponent(() => import('./revisions.tsx'), 'Page'),
})

const revision = createRoute({
  getParentRoute: () => app,
  path: '/revisions/$revision',
  component: lazyRouteComponent(() => import('./revision.tsx'), 'Page'),
})

const releases = createRoute({
  getParentRoute: () => app,
  path: '/releases',
  component: lazyRouteComponent(() => import('./releases.tsx'), 'Page'),
})

const release = createRoute({
  getParentRoute: () => app,
  path: '/releases/$deploymentId',
  component: lazyRouteComponent(() => import('./release.tsx'), 'Page'),
})

const knowledge = createRoute({
  getParentRoute: () => app,
  path: '/knowledge',
  validateSearch: textsOf('query'),
  component: lazyRouteComponent(() => import('./knowledge.tsx'), 'Page'),
})

const domains = createRoute({
  getParentRoute: () => app,
  path: '/domains',
  component: lazyRouteComponent(() => import('./domains.tsx'), 'Page'),
})

const settings = createRoute({
  getParentRoute: () => app,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings.tsx'), 'Page'),
})

const usage = createRoute({
  getParentRoute: () => app,
  path: '/usage',
  validateSearch: textsOf('month'),
  component: lazyRouteComponent(() => import('./usage.tsx'), 'Page'),
})

const appPages = [
  build,
  edit,
  files,
  revisions,
  revision,
  releases,
  release,
  knowledge,
  domains,
  settings,
  usage,
] as const

export const appRoutes = [apps, newApp, app.addChildren(appPages)] as const

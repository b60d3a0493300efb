import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { queries } from '../api/client.ts'
import { isSignedOut } from '../session/session.ts'
import { root } from '../shell/root.tsx'
import { operatorSession } from './session.ts'

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/operator/sign-in',
  component: lazyRouteComponent(() => import('./sign-in.tsx'), 'Page'),
})

const operator = createRoute({
  getParentRoute: () => root,
  id: 'operating',
  component: lazyRouteComponent(() => import('./frame.tsx'), 'OperatorFrame'),
  async beforeLoad() {
    try {
      await queries.ensureQueryData(operatorSession)
    } catch (error) {
      if (!isSignedOut(error)) throw error
      redirect({ to: '/operator/sign-in', throw: true })
    }
  },
})

const overview = createRoute({
  getParentRoute: () => operator,
  path: '/operator',
  component: lazyRouteComponent(() => import('./overview.tsx'), 'Page'),
})

const accounts = createRoute({
  getParentRoute: () => operator,
  path: '/operator/accounts',
  component: lazyRouteComponent(() => import('./accounts.tsx'), 'Page'),
})

const account = createRoute({
  getParentRoute: () => operator,
  path: '/operator/accounts/$accountId',
  component: lazyRouteComponent(() => import('./account.tsx'), 'Page'),
})

const settings = createRoute({
  getParentRoute: () => operator,
  path: '/operator/settings',
  validateSearch: (search) => ({ all: search['all'] === true || search['all'] === 'true' }),
  component: lazyRouteComponent(() => import('./settings.tsx'), 'Page'),
})

/** The operator's pages: a session of their own, and nothing of a user's. */
export const operatorRoutes = [
  signIn,
  operator.addChildren([overview, accounts, account, settings]),
] as const

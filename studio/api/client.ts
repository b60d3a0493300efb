import { QueryClient } from '@tanstack/react-query'
import { createClient } from 'keyhook/client'

/** The session of the portal, in this variable alone; undefined for that of the browser, null once it has ended. */
let bearer: string | undefined | null

/** Every call from now on acts with a session of the portal; null: none is sent. */
export function actWith(session: string | null): void {
  bearer = session
}

/** What ended must not go on with a session of Studio in the same browser. */
function bearerOrNone(): string | undefined {
  if (bearer === null) throw new Error('The session of the portal has ended.')
  return bearer
}

/** The service that this page belongs to: one level above `<base>`, with the session of the browser or of the portal. */
export const api = createClient({
  baseUrl: new URL('..', document.baseURI).href,
  key: bearerOrNone,
})

/** The client repeats what is safe to repeat, so queries do not. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 5000, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
})

/** The service as its operator sees it; with an account, on its behalf. */
export function operatorApi(account?: string): typeof api {
  const baseUrl = new URL('..', document.baseURI).href
  return createClient({
    baseUrl,
    session: 'operator',
    ...(account === undefined ? {} : { account }),
  })
}

type Answer<Call extends (...given: never[]) => Promise<unknown>> = Awaited<ReturnType<Call>>

export type Key = Answer<typeof api.keys.list>['data'][number]
export type KeyDetail = Answer<typeof api.keys.get>
export type Webhook = Answer<typeof api.webhooks.get>
export type Delivery = Answer<typeof api.webhooks.getDelivery>
export type Attempt = Delivery['attempts'][number]
export type EventRecord = Answer<typeof api.events.get>
export type App = Answer<typeof api.apps.get>
export type HostingUsage = Answer<typeof api.apps.hostingUsage>
export type Edit = Answer<typeof api.edits.get>
export type EditState = Answer<typeof api.edits.status>
export type Comparison = Pick<Answer<typeof api.edits.compare>, 'files' | 'config' | 'diff'>
export type Deployment = Answer<typeof api.deploy.get>
export type KnowledgeFile = Answer<typeof api.files.get>
export type Domain = Answer<typeof api.settings.getDomain>
export type Wallet = Answer<typeof api.billing.wallet>
export type Invoice = Answer<typeof api.billing.invoices>['data'][number]
export type LedgerLine = Answer<typeof api.billing.ledger>['data'][number]
export type Session = Answer<typeof api.accounts.session>
export type AuditEntry = Answer<typeof api.audit.list>['data'][number]
export type UserSession = Answer<typeof api.accounts.listSessions>['data'][number]
export type Member = Answer<typeof api.accounts.listMembers>['data'][number]
export type PortalSession = Answer<typeof api.portal.session>
export type Account = Answer<typeof api.accounts.get>
export type ServiceStatus = Answer<typeof api.operator.status>
export type SettingInForce = Answer<typeof api.operator.settings>['data'][number]

import { appsFamily } from '../../daemon/families/apps/family.ts'
import { settingsFamily } from '../../daemon/families/settings/family.ts'
import { createNameLookup } from '../../plugins/egress/resolve.ts'
import type { VirtualClock } from './clock.ts'
import { createClock } from './clock.ts'
import { requireDeclared } from './declared-events.ts'
import type { DnsServer } from './dns.ts'
import { startDns } from './dns.ts'
import type { Answer, AnyBody, Asking, World, WorldOptions } from './world.ts'
import { createWorld } from './world.ts'

export const START = Date.UTC(2026, 0, 31)

export interface DnsRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly name: string
  readonly value: string
  readonly verified: boolean
}

export interface Domain extends AnyBody {
  readonly id: string
  readonly hostname: string
  readonly status: string
  readonly records: readonly [DnsRecord, DnsRecord]
}

export interface SettingsWorld extends World {
  readonly clock: VirtualClock
  readonly dns: DnsServer
  /** An app of the account. */
  readonly app: string
  newApp(as?: Asking['as']): Promise<string>
  /** Asks for what is below the settings of an app: that one unless told otherwise. */
  ask<Body = AnyBody>(
    method: string,
    path: string,
    asking?: Asking & { readonly app?: string },
  ): Promise<Answer<Body>>
  addDomain(hostname: string, asking?: Asking & { readonly app?: string }): Promise<Domain>
  domain(id: string): Promise<Domain>
  /** Sets in the DNS what a domain asks for, all of it or the one record. */
  setUp(domain: Domain, only?: 'TXT' | 'CNAME'): void
  verify(id: string): Promise<Answer<Domain>>
  /** What was told of domains, oldest first. */
  events(): Promise<readonly { readonly type: string; readonly data: AnyBody }[]>
}

type Scope = Parameters<typeof createWorld>[0] & Parameters<typeof startDns>[0]

export interface SettingsOptions extends WorldOptions {
  /** Of the lookups. Default 100 ms: a server that says nothing is given up soon. */
  readonly dnsTimeout?: number
}

/** A world with an app whose domains are looked up at a server of the test's own. */
export async function openSettings(
  t: Scope,
  { dnsTimeout: timeout = 100, ...options }: SettingsOptions = {},
): Promise<SettingsWorld> {
  const dns = await startDns(t)
  const clock = createClock(START)
  const world = await createWorld(t, {
    clock,
    nameLookup: createNameLookup({ servers: [dns.address], timeout }),
    ...options,
    families: [appsFamily, settingsFamily, ...(options.families ?? [])],
  })
  const newApp: SettingsWorld['newApp'] = async (as = world.user) => {
    const body = { template_id: 'blank' }
    return String((await world.request('POST', '/v1/apps', { as, body })).body['id'])
  }
  const app = await newApp()
  const ask: SettingsWorld['ask'] = (method, path, { app: of = app, ...asking } = {}) =>
    world.request(method, `/v1/apps/${of}/settings/${path}`, asking)
  return {
    ...world,
    clock,
    dns,
    app,
    newApp,
    ask,
    async addDomain(hostname, asking) {
      const made = await ask<Domain>('POST', 'domains', { body: { hostname }, ...asking })
      if (made.status !== 201) throw new Error(`no domain: ${JSON.stringify(made.body)}`)
      return made.body
    },
    domain: async (id) => (await ask<Domain>('GET', `domains/${id}`)).body,
    setUp({ records }, only) {
      for (const { type, name, value } of records) {
        if (only !== undefined && type !== only) continue
        dns.set(name, type === 'TXT' ? { txt: [value] } : { cname: value })
      }
    },
    verify: (id) => ask<Domain>('POST', `domains/${id}/verify`),
    events: () => eventsOf(world),
  }
}

async function eventsOf({ platform, account }: World) {
  const { rows } = await platform.store.events.list({
    account_id: account.id,
    types: ['domain.verified', 'domain.failed'],
    since: null,
    until: null,
    apps: null,
    order: 'asc',
    bodies: true,
    after: null,
    limit: 100,
  })
  const events = rows.map(({ type, body }) => {
    const { data } = JSON.parse(Buffer.from(body).toString()) as { data: AnyBody }
    return { type, data }
  })
  requireDeclared(events)
  return events
}

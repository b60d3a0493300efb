import t from 'tap'
import type { LoadedSite } from '../../daemon/hosting/load-site.ts'
import type { Site } from '../../daemon/hosting/site.ts'
import type { SiteLimits } from '../../daemon/hosting/sites.ts'
import { createSites } from '../../daemon/hosting/sites.ts'
import type { Change } from '../../lib/engine/changes.ts'
import { createChanges } from '../../lib/engine/changes.ts'
import type { Instant } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { createClock } from '../support/clock.ts'

const SITE: Omit<Site, 'app_id'> = {
  kind: 'published',
  deployment_id: 'dep_1',
  manifest: { files: new Map(), spa: false },
  earlier: [],
}

/** Sites whose looks wait until they are let; of hosts `<app>.<anything>`, all of one account. */
function createWorld(limits: Partial<SiteLimits> = {}) {
  const clock = createClock(0)
  const state = { isCurrent: true }
  const changes = createChanges(() => (state.isCurrent ? Infinity : 0))
  const looks: string[] = []
  const gates: (() => void)[] = []
  const serving = new Map<string, Site>()
  const ends = new Map<string, Instant>()
  const switching = new Set<string>()
  let isHeld = false
  const load = async (host: string): Promise<LoadedSite | undefined> => {
    looks.push(host)
    const [app_id = ''] = host.split('.')
    const serves = serving.get(app_id)
    const isSwitching = switching.has(app_id)
    if (isHeld) await new Promise<void>((resolve) => gates.push(resolve))
    const until = ends.get(app_id) ?? Infinity
    return (
      serves && { app_id, account_id: `of ${app_id}`, serves: () => serves, until, isSwitching }
    )
  }
  return {
    clock,
    state,
    looks,
    switching,
    ends,
    sites: createSites({ changes, clock, load, limits }),
    serve: (app: string, deployment_id: string) =>
      serving.set(app, { ...SITE, app_id: app, deployment_id }),
    tell: (kind: Change['kind'] | 'all', id = '') =>
      changes.emit(kind === 'all' ? 'all' : { kind, id }),
    hold(): void {
      isHeld = true
    },
    /** The latest first. */
    release() {
      isHeld = false
      for (const open of gates.splice(0).reverse()) open()
    },
  }
}

const deploymentOf = (found: unknown): string | null | undefined =>
  (found as Site | undefined)?.deployment_id

await t.test('a host is looked for once, and then known without waiting', async (t) => {
  const { sites, serve, looks } = createWorld()
  serve('shop', 'dep_1')
  const [first, second] = await Promise.all([sites.find('shop.a'), sites.find('shop.a')])
  t.equal(deploymentOf(first), 'dep_1')
  t.equal(second, first)
  t.equal(sites.find('shop.a'), first, 'at once')
  t.same(looks, ['shop.a'])
})

await t.test(
  'what an app serves is forgotten when it changes, under each of its hosts',
  async (t) => {
    const { sites, serve, tell, looks } = createWorld()
    for (const app of ['shop', 'other']) serve(app, 'dep_1')
    for (const host of ['shop.a', 'shop.b', 'other.a']) await sites.find(host)
    serve('shop', 'dep_2')
    for (const kind of ['key', 'webhooks', 'event_types'] as const) void tell(kind, 'shop')
    void tell('site', 'another')
    t.equal(deploymentOf(sites.find('shop.a')), 'dep_1')
    void tell('site', 'shop')
    t.equal(deploymentOf(await sites.find('shop.a')), 'dep_2')
    t.equal(deploymentOf(await sites.find('shop.b')), 'dep_2')
    t.equal(deploymentOf(sites.find('other.a')), 'dep_1')
    t.equal(looks.length, 5)

    void tell('account', 'of other')
    await sites.find('other.a')
    t.equal(looks.length, 6, 'its account stands otherwise')
    void tell('all')
    await sites.find('shop.a')
    t.equal(looks.length, 7)
  },
)

await t.test('a look that a change overtook is neither kept nor joined', async (t) => {
  const { sites, serve, tell, looks, hold, release } = createWorld()
  serve('shop', 'dep_1')
  hold()
  const early = sites.find('shop.a')
  serve('shop', 'dep_2')
  void tell('site', 'shop')
  const late = sites.find('shop.a')
  release()
  t.equal(deploymentOf(await early), 'dep_1', 'it was asked before')
  t.equal(deploymentOf(await late), 'dep_2')
  t.equal(deploymentOf(sites.find('shop.a')), 'dep_2')
  t.equal(looks.length, 2)
})

await t.test('while changes may go unheard every request looks for itself', async (t) => {
  const { sites, serve, state, looks, tell } = createWorld()
  serve('shop', 'dep_1')
  await sites.find('shop.a')
  state.isCurrent = false
  serve('shop', 'dep_2')
  const found = await Promise.all([sites.find('shop.a'), sites.find('shop.a')])
  t.same(found.map(deploymentOf), ['dep_2', 'dep_2'])
  t.equal(looks.length, 3)
  void tell('all')
  state.isCurrent = true
  t.equal(deploymentOf(await sites.find('shop.a')), 'dep_2')
  t.equal(looks.length, 4)
})

await t.test(
  'a host of nobody is asked for again when a site changes, or after a while',
  async (t) => {
    const { sites, serve, tell, looks, clock } = createWorld({ unknownFor: 10 * SECOND })
    t.equal(await sites.find('new.a'), undefined)
    t.equal(sites.find('new.a'), undefined, 'at once')
    serve('new', 'dep_1')
    void tell('account', 'of somebody')
    t.equal(sites.find('new.a'), undefined)
    void tell('site', 'new')
    t.equal(deploymentOf(await sites.find('new.a')), 'dep_1')
    await sites.find('none.a')
    await clock.advance(10 * SECOND - 1)
    t.equal(sites.find('none.a'), undefined)
    t.equal(looks.length, 3)
    await clock.advance(1)
    await sites.find('none.a')
    t.equal(looks.length, 4)
  },
)

await t.test('the host that was asked for longest ago goes first', async (t) => {
  const { sites, serve, looks } = createWorld({ hosts: 2 })
  for (const app of ['a', 'b', 'c']) serve(app, 'dep_1')
  for (const host of ['a.x', 'b.x', 'a.x', 'c.x']) await sites.find(host)
  t.same(looks, ['a.x', 'b.x', 'c.x'])
  t.equal(deploymentOf(sites.find('a.x')), 'dep_1', 'it was asked for since')
  t.equal(deploymentOf(sites.find('c.x')), 'dep_1')
  await sites.find('b.x')
  t.equal(looks.length, 4)
})

await t.test('what a host leads to is known until it ends', async (t) => {
  const { sites, serve, ends, looks, clock } = createWorld()
  serve('shop', 'dep_1')
  ends.set('shop', 10 * SECOND)
  await sites.find('shop.a')
  await clock.advance(10 * SECOND - 1)
  t.equal(deploymentOf(sites.find('shop.a')), 'dep_1')
  serve('shop', 'dep_2')
  ends.delete('shop')
  await clock.advance(1)
  t.equal(deploymentOf(await sites.find('shop.a')), 'dep_2')
  t.equal(deploymentOf(sites.find('shop.a')), 'dep_2')
  t.equal(looks.length, 2)
})

await t.test(
  'hosts of nobody take no place of those of somebody, and no more than theirs',
  async (t) => {
    const { sites, serve, looks } = createWorld({ hosts: 1, unknown: 2 })
    serve('shop', 'dep_1')
    await sites.find('shop.a')
    for (const host of ['x.a', 'y.a', 'z.a']) await sites.find(host)
    t.equal(deploymentOf(sites.find('shop.a')), 'dep_1')
    t.equal(sites.find('z.a'), undefined)
    t.equal(looks.length, 4)
    await sites.find('x.a')
    t.equal(looks.length, 5, 'the first of them is forgotten')
  },
)

await t.test(
  'while another release is about to go live, nobody goes by what was looked at before',
  async (t) => {
    const { sites, serve, looks, switching, tell, hold, release } = createWorld()
    serve('shop', 'dep_1')
    await sites.find('shop.a')
    switching.add('shop')
    void tell('site', 'shop')
    t.equal(deploymentOf(await sites.find('shop.a')), 'dep_1')
    t.equal(deploymentOf(await sites.find('shop.a')), 'dep_1', 'looked at again')
    t.equal(looks.length, 3)

    hold()
    const before = sites.find('shop.a')
    serve('shop', 'dep_2')
    const after = sites.find('shop.a')
    release()
    t.equal(deploymentOf(await before), 'dep_1')
    t.equal(deploymentOf(await after), 'dep_2', 'whoever came later waits for a look of its own')
    switching.delete('shop')
    t.equal(deploymentOf(await sites.find('shop.a')), 'dep_2')
    const known = looks.length
    t.equal(deploymentOf(sites.find('shop.a')), 'dep_2', 'and is known again')
    t.equal(looks.length, known)
  },
)

await t.test('a look that fails is told to all who wait, and the next looks again', async (t) => {
  const changes = createChanges()
  let looks = 0
  const load = async (): Promise<never> => {
    looks += 1
    throw new Error('the disk is gone')
  }
  const sites = createSites({ changes, clock: createClock(0), load })
  const found = [sites.find('a.x'), sites.find('a.x')]
  for (const one of found) await t.rejects(Promise.resolve(one), /the disk is gone/)
  t.equal(looks, 1)
  await t.rejects(Promise.resolve(sites.find('a.x')), /the disk is gone/)
  t.equal(looks, 2)
})

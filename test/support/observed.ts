import { appsFamily } from '../../daemon/families/apps/family.ts'
import { observeFamily } from '../../daemon/families/observe/family.ts'
import type { BrowserReport, Served } from '../../daemon/hosting/site.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { startObserving } from '../../daemon/worker/observations.ts'
import { FIRST, makeLive } from '../platform/deployment-samples.ts'
import type { PlatformStore, PlatformTx } from '../../plugins/platform/contract.ts'
import { createApp } from './edits.ts'
import type { World } from './world.ts'
import { createWorld } from './world.ts'

/** A world with apps and what is observed of them. */
export function observedWorld(
  t: Parameters<typeof createWorld>[0],
  options: Parameters<typeof createWorld>[1] = {},
): Promise<World> {
  return createWorld(t, { families: [appsFamily, observeFamily], ...options })
}

export function request(app_id: string, changes: Partial<Served> = {}): Served {
  return {
    app_id,
    kind: 'published',
    deployment_id: 'dep_1',
    request_id: 'req_1',
    at: Date.now(),
    method: 'GET',
    path: '/',
    status: 200,
    bytes: 100,
    duration: 1.4,
    ...changes,
  }
}

export function report(message: string, changes: Partial<BrowserReport> = {}): BrowserReport {
  return {
    type: 'error',
    message,
    stack: null,
    url: 'https://shop.example.net/cart',
    deployment_id: null,
    ...changes,
  }
}

/** What the observer keeps is written when the test says so. */
export function observe(
  world: Pick<World, 'platform'>,
  store: PlatformStore = world.platform.store,
) {
  const dropped = { access_lines: 0, problems: 0 }
  const never = { ...world.platform.clock, after: () => () => undefined }
  const platform = { ...world.platform, store, clock: never }
  const observing = startObserving(platform, createLog('silent'), dropped)
  return { ...observing, dropped }
}

/** An app of the blank template that is live. */
export async function publishedApp(world: World, deployment = 'dep_1'): Promise<string> {
  const { id } = await createApp(world)
  const { store, clock } = world.platform
  const account_id = world.account.id
  await ensureSite(store, id, account_id)
  await makeLive(store, `${deployment}_${id}`, FIRST, clock.now(), { app_id: id, account_id })
  return id
}

async function ensureSite(store: PlatformStore, app_id: string, account_id: string): Promise<void> {
  const [site] = await store.deployments.siteStates([app_id])
  if (site !== undefined) return
  const preview = `preview-${app_id}`
  await store.write((tx) => tx.deployments.openSite({ app_id, account_id, preview }))
}

/** The store, whose units of work end as the test says: before they begin, in them, or after they committed. */
export function faultyStore(store: PlatformStore) {
  const faults: ('before' | 'inside' | 'after')[] = []
  let cause: Error = new Error('no fault was set')
  let units = 0
  const write: PlatformStore['write'] = async (work) => {
    units += 1
    const fault = faults.shift()
    if (fault === 'before') throw cause
    const result = await store.write(async (tx: PlatformTx) => {
      const done = await work(tx)
      if (fault === 'inside') throw cause
      return done
    })
    if (fault === 'after') throw cause
    return result
  }
  return {
    store: { ...store, write },
    get units() {
      return units
    },
    failNext(failing: Error, ...where: readonly ('before' | 'inside' | 'after')[]) {
      cause = failing
      faults.push(...where)
    },
  }
}

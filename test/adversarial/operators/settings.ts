import type { Test } from 'tap'
import { deployFamily } from '../../../daemon/families/deploy/family.ts'
import { editsFamily } from '../../../daemon/families/edits/family.ts'
import { createSiteLoader } from '../../../daemon/hosting/load-site.ts'
import { OFFLINE } from '../../../daemon/hosting/pages.ts'
import { createSites } from '../../../daemon/hosting/sites.ts'
import { clockOf } from '../../../daemon/machine/ports.ts'
import { codeOf } from '../../support/answer.ts'
import type { SettingsWorld } from '../../support/app-settings.ts'
import { openSettings } from '../../support/app-settings.ts'
import { change, publish, rollBack, startDeployer } from '../../support/deploys.ts'
import type { Checks } from '../run.ts'

interface Stage extends SettingsWorld {
  /** Makes the next revision and publishes it. */
  release(content: string): Promise<void>
  setSignIn(enabled: boolean): Promise<string>
  /** As an earlier version, or a race, left it in the store. */
  forceSignIn(): Promise<void>
  /** What a host of the app leads to: a release, or why there is none. */
  served(): Promise<unknown>
}

async function stageOf(t: Test): Promise<Stage> {
  const families = [deployFamily, editsFamily]
  const world = await openSettings(t, { families, clock: clockOf({}) })
  startDeployer(t, world)
  const { app, platform } = world
  const {
    clock,
    store,
    plugins: { appBytes: bytes },
    appsHosting: place,
  } = platform
  if (bytes === undefined || place === undefined) throw new Error('the world serves nothing')
  const load = createSiteLoader({ store, bytes, hosting: place })
  const sites = createSites({ changes: store.changes, clock, load })
  return {
    ...world,
    async release(content) {
      await change(world, app, content)
      const { body } = await publish(world, app, {}, '?wait=25')
      t.equal(body.status, 'live')
    },
    setSignIn: async (enabled) =>
      codeOf(await world.ask('PATCH', 'auth', { body: { enabled, signup: 'open' } })),
    forceSignIn: () => store.write((tx) => tx.signIn.change(app, { enabled: true }, clock.now())),
    served: async () => sites.find(`${app}.${place.domain}`),
  }
}

export const SETTING_CHECKS: Checks = {
  async P06(t, saw) {
    const { app, ask, release, setSignIn, served } = await stageOf(t)
    t.equal(await setSignIn(true), '200', 'it may be set while nothing is published')
    t.equal(await setSignIn(false), '200')
    await release('<h1>Open</h1>')
    const before = await ask('GET', 'auth')
    saw(await setSignIn(true))
    t.same((await ask('GET', 'auth')).body, before.body)
    t.match(await served(), { app_id: app, kind: 'published' })
  },

  async P07(t, saw) {
    const world = await stageOf(t)
    const { app, release, request, forceSignIn } = world
    await release('<h1>One</h1>')
    await release('<h1>Two</h1>')
    await forceSignIn()
    saw(codeOf(await publish(world, app)))
    await change(world, app, '<h1>Three</h1>')
    for (const body of [{}, { dry_run: true }]) {
      t.equal(codeOf(await publish(world, app, body)), '501 capability_unavailable')
      t.equal(codeOf(await rollBack(world, app, body)), '501 capability_unavailable')
    }
    t.match(await request('POST', `/v1/apps/${app}/deploy/unpublish`, { body: {} }), {
      status: 200,
    })
    t.equal(codeOf(await publish(world, app)), '501 capability_unavailable')
  },

  async P08(t, saw) {
    const { app, release, forceSignIn, served, setSignIn } = await stageOf(t)
    await release('<h1>Members only</h1>')
    t.match(await served(), { kind: 'published' }, 'it is kept in memory')
    await forceSignIn()
    t.equal(await served(), 'sign_in')
    saw(String(OFFLINE.sign_in.status))
    t.equal(await setSignIn(false), '200')
    t.match(await served(), { app_id: app, kind: 'published' })
  },

  async P09(t, saw) {
    const { ask } = await stageOf(t)
    const body = { kind: 'database', secrets: { PASSWORD: 'correct horse battery' } }
    const records = [
      await ask('PUT', 'services/orders-db', { body }),
      await ask('GET', 'services/orders-db'),
      await ask('GET', 'auth'),
    ]
    for (const { body: record } of records) {
      t.equal(record['in_use'], false)
      saw(`in_use ${String(record['in_use'])}`)
    }
  },
}

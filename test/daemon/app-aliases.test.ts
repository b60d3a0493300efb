import t from 'tap'
import { collectGarbage } from '../../daemon/families/apps/garbage-collection.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { DAY } from '../../lib/time.ts'
import { createClock } from '../support/clock.ts'
import type { Asker, AnyBody } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const START = Date.UTC(2026, 0, 31)

async function aliasWorld(t: Parameters<typeof createWorld>[0]) {
  const clock = createClock(START)
  const world = await createWorld(t, { families: [appsFamily], clock })
  const stranger = world.userOf(await world.addAccount({ id: 'acc_stranger' }))
  return {
    ...world,
    clock,
    stranger,
    async create(alias: string, as: Asker = world.user) {
      const body = { template_id: 'blank', alias }
      return world.request<AnyBody>('POST', '/v1/apps', { as, body })
    },
    rename: (id: unknown, alias: string | null) =>
      world.request('PATCH', `/v1/apps/${String(id)}`, { body: { alias } }),
  }
}

const TAKEN = { status: 409, body: { error: { code: 'alias_taken' } } }

void t.test('an alias that an app gave up is its account’s alone for 30 days', async (t) => {
  const { create, rename, stranger, clock } = await aliasWorld(t)
  const { body: shop } = await create('shop')
  const borne = await create('shop', stranger)
  t.match(borne, TAKEN)
  await rename(shop['id'], 'store')
  const { request_id: _, ...refusal } = (borne.body['error'] ?? {}) as AnyBody
  const kept = await create('shop', stranger)
  t.match(kept, { status: 409, body: { error: refusal } }, 'and looks as one that is borne')
  t.match(await rename(shop['id'], 'shop'), { status: 200 })
  await rename(shop['id'], null)
  await clock.advance(30 * DAY - 1)
  t.match(await create('shop', stranger), TAKEN)
  await clock.advance(1)
  t.match(await create('shop', stranger), { status: 201 })
  t.match(await create('shop'), TAKEN)
})

void t.test('that of an archived app is, until 30 days after it was deleted', async (t) => {
  const { create, request, platform, stranger, clock } = await aliasWorld(t)
  const { store } = platform
  const { appBytes } = platform.plugins
  if (appBytes === undefined) throw new Error('the world keeps no bytes')
  const { body: shop } = await create('shop')
  await request('DELETE', `/v1/apps/${String(shop['id'])}`)
  t.match(await create('shop', stranger), TAKEN)
  await clock.advance(30 * DAY)
  t.match(await collectGarbage(store, appBytes, clock.now()), { apps: 1 })
  await clock.advance(30 * DAY - 1)
  t.match(await create('shop', stranger), TAKEN)
  const { body: next } = await create('shop')
  t.match(next, { alias: 'shop' }, 'the account itself has it at once')
  await request('PATCH', `/v1/apps/${String(next['id'])}`, { body: { alias: null } })
  await clock.advance(30 * DAY)
  t.match(await create('shop', stranger), { status: 201 })
})

void t.test('no alias looks like the id of an app, or like a preview', async (t) => {
  const { create, rename } = await aliasWorld(t)
  const { body: app } = await create('shop')
  for (const alias of ['k3v9q2m7x4ta', 'preview--shop']) {
    const refused = { status: 400, body: { error: { code: 'invalid_request' } } }
    t.match(await create(alias), refused, alias)
    t.match(await rename(app['id'], alias), refused, alias)
  }
  t.match(await create('my-opening-ti'), { status: 201 })
  t.match(await create('openinghours'), { status: 201 }, 'ids hold neither i, l nor o')
})

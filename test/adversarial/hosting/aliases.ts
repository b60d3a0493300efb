import { appsFamily } from '../../../daemon/families/apps/family.ts'
import { isLikeAppId } from '../../../daemon/families/apps/id.ts'
import { isReservedAlias, RESERVED_NAMES } from '../../../daemon/families/apps/reserved-names.ts'
import type { Checks } from '../run.ts'
import { openWorld } from '../keys/world.ts'

/** Names that browsers, mail clients, systems or people take for the service's own. */
const ATTEMPTS = [
  'login',
  'log-in',
  'login2',
  'www',
  'www2',
  'api',
  'mail',
  'smtp1',
  'ns1',
  'wpad',
  'isatap',
  'autodiscover',
  'autoconfig',
  'mta-sts',
  'postmaster',
  'admin',
  'root',
  'status',
  'secure-login',
  'account-verification',
  // The brand of the tests, alone and beside such a name.
  'service',
  'service-login',
  'loginservice',
  'keyhook',
]

const FREE = ['shop', 'car-service', 'my-mail-order', 'apixaban', 'mailand', 'logins-and-keys']

export const ALIAS_CHECKS: Checks = {
  async H02(t, saw) {
    const world = await openWorld(t, saw, { families: [appsFamily] })
    const create = (alias: string) =>
      world.request<{ readonly id: string }>('POST', '/v1/apps', {
        body: { template_id: 'blank', alias },
      })
    const { id } = (await create('bakery')).body
    for (const alias of ATTEMPTS) {
      const made = await create(alias)
      const refusal = {
        code: 'alias_reserved',
        status: 400,
        errors: [{ location: 'body.alias', code: 'alias_reserved' }],
      }
      t.match(made, { status: 400, body: { error: refusal } }, alias)
      t.equal(
        await world.ask('PATCH', `/v1/apps/${id}`, world.user, { alias }),
        '400 alias_reserved',
      )
    }
    const clone = { alias: 'login' }
    t.equal(
      await world.ask('POST', `/v1/apps/${id}/clone`, world.user, clone),
      '400 alias_reserved',
    )
    for (const alias of FREE) t.match(await create(alias), { status: 201 }, alias)

    // An app that got such an alias from an earlier version keeps it.
    const { store, clock } = world.platform
    await store.write((tx) => tx.apps.update(id, { alias: 'status' }, clock.now()))
    const same = { alias: 'status', name: 'Status' }
    t.equal(await world.ask('PATCH', `/v1/apps/${id}`, world.user, same), '200')
    t.equal(await world.ask('DELETE', `/v1/apps/${id}`), '200')
    t.equal(await world.ask('POST', `/v1/apps/${id}/restore`), '200')
    t.match((await world.request('GET', `/v1/apps/${id}`)).body, { alias: 'status' })

    const names = RESERVED_NAMES.flatMap(({ source, names: some }) => {
      t.match(source, /\w+ \w+/, 'each list names its source')
      return some
    })
    t.equal(new Set(names).size, names.length, 'no name is listed twice')
    t.strictSame(names.filter(isLikeAppId), [], 'no generated name is reserved')
    t.strictSame(
      names.filter((name) => !isReservedAlias(name, 'acme') || !/^[a-z0-9]+$/.test(name)),
      [],
    )
    t.equal(isReservedAlias('service', 'acme'), false, 'only the brand of this service is')
    t.equal(isReservedAlias('acme', 'acme'), true)
    t.equal(isReservedAlias('acme-fan-shop', 'acme'), false)
  },
}

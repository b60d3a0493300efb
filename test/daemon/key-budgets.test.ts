import t from 'tap'
import { DEFAULT_PRICES } from '../../daemon/billing/prices.ts'
import type { Asker, World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const MAX = Number.MAX_SAFE_INTEGER

interface Budgeted {
  readonly id: string
  readonly key: string
  readonly monthly_budget_micros: number | null
}

const SCOPES = ['keys:*']

function mint({ request }: World, monthly_budget_micros?: unknown, as?: Asker) {
  const body = { name: 'a key', scopes: SCOPES, monthly_budget_micros }
  return request<Budgeted>('POST', '/v1/keys', { body, ...(as === undefined ? {} : { as }) })
}

const open = (t: Parameters<typeof createWorld>[0]): Promise<World> =>
  createWorld(t, { prices: DEFAULT_PRICES })

await t.test('a key has the monthly budget that it was created with', async (t) => {
  const world = await open(t)
  const { request } = world
  const { status, body: key } = await mint(world, MAX)
  t.equal(status, 201)
  t.equal(key.monthly_budget_micros, MAX)
  t.match(await request('GET', `/v1/keys/${key.id}`), { body: { monthly_budget_micros: MAX } })
  t.match(await request('GET', '/v1/keys/self', { as: key.key }), {
    body: { monthly_budget_micros: MAX },
  })
  const rotated = await request('POST', `/v1/keys/${key.id}/rotate`)
  t.match(rotated, { status: 201, body: { monthly_budget_micros: MAX } })
  t.match(await mint(world), { status: 201, body: { monthly_budget_micros: null } })
})

await t.test('it is fixed at creation', async (t) => {
  const world = await open(t)
  const { body: key } = await mint(world, 1000)
  const changed = await world.request('PATCH', `/v1/keys/${key.id}`, {
    body: { monthly_budget_micros: 2000 },
  })
  t.match(changed, {
    status: 400,
    body: { error: { errors: [{ location: 'body.monthly_budget_micros' }] } },
  })
})

await t.test('a budget is a whole number of micros from 1 to 2^53 - 1', async (t) => {
  const world = await open(t)
  for (const wrong of [0, -1, 0.5, 2 ** 53, '1', null]) {
    t.match(
      await mint(world, wrong),
      { status: 400, body: { error: { errors: [{ location: 'body.monthly_budget_micros' }] } } },
      String(wrong),
    )
  }
  t.match(await mint(world, 1), { status: 201 })
})

await t.test('a key gives at most the least budget of those above it', async (t) => {
  const world = await open(t)
  const root = (await mint(world, 1000)).body
  const beyond = {
    status: 403,
    body: {
      error: {
        code: 'scope_not_delegable',
        details: { monthly_budget_beyond: true, monthly_budget_micros: 1000 },
      },
    },
  }
  t.match(await mint(world, 1001, root.key), beyond)
  t.match(await mint(world, 1000, root.key), { status: 201 })
  const free = await mint(world, undefined, root.key)
  t.match(free, { status: 201, body: { monthly_budget_micros: null } })
  t.match(await mint(world, 1001, free.body.key), beyond, 'also one without a budget of its own')
  const less = await mint(world, 10, free.body.key)
  t.match(less, { status: 201 })
  const least = { body: { error: { details: { monthly_budget_micros: 10 } } } }
  t.match(await mint(world, 11, less.body.key), least)
})

await t.test('without metering a budget is refused, and nothing is created', async (t) => {
  const world = await createWorld(t)
  t.match(await mint(world, 1000), {
    status: 501,
    body: { error: { code: 'billing_not_configured' } },
  })
  const { body } = await world.request<{ data: [] }>('GET', '/v1/keys')
  t.same(body.data, [])
  t.match(await mint(world), { status: 201 })
})

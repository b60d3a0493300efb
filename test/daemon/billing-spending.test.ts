import { createHash } from 'node:crypto'
import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { accountsFamily } from '../../daemon/families/accounts/family.ts'
import { billingFamily } from '../../daemon/families/billing/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { filesFamily } from '../../daemon/families/files/family.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { pricesOf, walletOf } from '../support/billing.ts'
import { createClock } from '../support/clock.ts'
import { createApp, operationsOf, startWorker } from '../support/edits.ts'
import { formOf } from '../support/knowledge.ts'
import { startPostgres } from '../support/postgres.ts'
import { scripted, until } from '../support/processing.ts'
import type { AnyBody, Asker, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

type Scope = Parameters<typeof createWorld>[0]

const PRICES = { 'apps.create': 500, 'edits.create': 100, 'files.upload': 2 }
const START = Date.UTC(2026, 10, 24, 10)

async function openOn(t: Scope, database: string | undefined, options: WorldOptions) {
  const families = [appsFamily, editsFamily, filesFamily, billingFamily]
  const editor = createMemoryEditor({ script: operationsOf })
  const world = await createWorld(t, {
    prices: pricesOf(PRICES),
    editor,
    database,
    ...options,
    families,
  })
  const { request } = world
  const { id: app } = await createApp(world)
  return {
    ...world,
    ...walletOf(world),
    app,
    ask: (prompt: string, as: Asker = world.user, query = '') =>
      request('POST', `/v1/apps/${app}/edits${query}`, { as, body: { prompt } }),
    async mint(
      monthly_budget_micros?: number,
      as: Asker = world.user,
      billing: readonly string[] = ['billing:read'],
    ): Promise<Minted> {
      const scopes = ['edits:*', 'apps:*', 'files:*', 'keys:*', ...billing]
      const body = { name: 'a key', scopes, monthly_budget_micros }
      const made = await request('POST', '/v1/keys', { as, body })
      if (made.status !== 201) throw new Error(`no key: ${JSON.stringify(made.body)}`)
      return made.body as unknown as Minted
    },
  }
}

interface Minted {
  readonly id: string
  readonly key: string
}

const refusedBy = (key_id: string, available_micros: number) => ({
  status: 402,
  body: {
    error: {
      code: 'insufficient_balance',
      details: {
        operation: 'edits.create',
        required_micros: 100,
        available_micros,
        currency: 'USD',
        source: 'key',
        key_id,
        resets_at: '2026-12-01T00:00:00.000Z',
      },
    },
  },
})

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

const DATABASES: readonly (readonly [name: string, create: () => Promise<string | undefined>])[] = [
  ['SQLite', async () => undefined],
  ['PostgreSQL', () => postgres.createDatabase()],
]

for (const [name, createDatabase] of DATABASES) {
  const openWorld = async (t: Scope, options: WorldOptions = {}) =>
    openOn(t, await createDatabase(), options)

  await t.test(name, async (t) => {
    await t.test(
      'a key spends at most its monthly budget, and begins anew with the month',
      async (t) => {
        const clock = createClock(START)
        const world = await openWorld(t, { clock })
        const { ask, mint, grant, request, verified } = world
        await grant(10_000)
        const { id, key } = await mint(250)
        t.match(await ask('one', key), { status: 202 })
        t.match(await ask('two', key), { status: 202 })
        t.match(await ask('three', key), refusedBy(id, 50))
        t.match(await ask('three'), { status: 202 }, 'the account has enough')
        const { edits } = world.platform.store
        t.equal((await edits.waiting(world.app)).length, 3, 'what was refused has no row')
        const limits = (await request('GET', '/v1/billing/limits', { as: key })).body[
          'data'
        ] as AnyBody[]
        const budget = { name: 'budget.monthly', used: 200, remaining: 50, source_id: id }
        t.match(limits.at(-1), budget)
        clock.set(Date.UTC(2026, 11, 1) - START)
        t.match(await ask('four', key), { status: 202 })
        t.same(await verified(), [])
      },
    )

    await t.test('what a child spends is drawn within the budgets above it', async (t) => {
      const clock = createClock(START)
      const { ask, mint, grant, verified } = await openWorld(t, { clock })
      await grant(10_000)
      const root = await mint(350)
      const free = await mint(undefined, root.key)
      const child = await mint(200, free.key)
      t.match(await ask('1', child.key), { status: 202 })
      t.match(await ask('2', child.key), { status: 202 })
      t.match(await ask('3', child.key), refusedBy(child.id, 0))
      t.match(await ask('3', free.key), { status: 202 })
      t.match(
        await ask('4', free.key),
        refusedBy(root.id, 50),
        'a key without a budget draws on its parent',
      )
      t.match(await ask('4', root.key), refusedBy(root.id, 50))
      t.same(await verified(), [])
    })

    await t.test(
      'of many that spend one budget at once as many succeed as it suffices for',
      async (t) => {
        const clock = createClock(START)
        const { request, app, mint, grant, wallet, verified, platform } = await openWorld(t, {
          clock,
        })
        await grant(10_000)
        const root = await mint(400)
        const children = await Promise.all([mint(undefined, root.key), mint(300, root.key)])
        const apps = await Promise.all(
          Array.from({ length: 3 }, () =>
            request('POST', '/v1/apps', { body: { template_id: 'blank' } }),
          ),
        )
        const targets = [app, ...apps.map(({ body }) => String(body['id']))]
        const answers = await Promise.all(
          targets.flatMap((target, at) =>
            [root, ...children].map(({ key }) =>
              request('POST', `/v1/apps/${target}/edits`, { as: key, body: { prompt: `${at}` } }),
            ),
          ),
        )
        const statuses = answers.map(({ status }) => status)
        t.equal(statuses.filter((status) => status === 202).length, 4)
        t.equal(statuses.filter((status) => status === 402).length, 8)
        t.match(await wallet(), { held: 400 })
        const [spent] = await platform.store.ledger.keySpending([root.id], START)
        t.match(spent, { held: 400, spent: 0 })
        t.same(await verified(), [])
      },
    )

    await t.test(
      'a key without billing:read sees no balance, no debt and no budget of another key',
      async (t) => {
        const clock = createClock(START)
        const { ask, mint, grant, platform, account } = await openWorld(t, { clock })
        await grant(10_000)
        const root = await mint(150)
        const child = await mint(undefined, root.key, [])
        const own = await mint(30, root.key, [])
        const dry = '?dry_run=true'
        const blind = { available_micros: null, currency: 'USD' }
        t.match(await ask('1', child.key, dry), { body: { ...blind, sufficient: true } })
        t.match(await ask('1', child.key), { status: 202 })
        const refusedDry = { ...blind, sufficient: false, source: 'key' }
        t.match(await ask('2', child.key, dry), { body: { ...refusedDry, key_id: null } })
        t.match(await ask('2', own.key, dry), { body: { ...refusedDry, key_id: own.id } })
        // A refusal says what its caller could still ask for: less than it did.
        const refusal = (await ask('2', child.key)).body['error'] as AnyBody
        t.same(refusal['details'], {
          operation: 'edits.create',
          required_micros: 100,
          available_micros: 50,
          currency: 'USD',
          source: 'key',
          resets_at: '2026-12-01T00:00:00.000Z',
        })
        t.match(await ask('2', own.key), refusedBy(own.id, 30))
        t.match(await ask('2', root.key), refusedBy(root.id, 50))
        const use = { account_id: account.id, currency: 'USD', key: 'debt', app_id: null }
        const what = { operation: 'hosting.requests', meter: 'requests', quantity: 1 }
        const cost = { amount: 20_000, price_version: 'v1', now: clock.now() }
        await platform.store.write((tx) => tx.ledger.charge({ ...use, ...what, ...cost }))
        const indebted = (await ask('3', child.key)).body['error'] as AnyBody
        t.match(indebted['details'], { source: 'account', available_micros: 0 })
        t.notOk('debt_micros' in (indebted['details'] as AnyBody))
        const told = (await ask('3', root.key)).body['error'] as AnyBody
        t.ok('debt_micros' in (told['details'] as AnyBody))
      },
    )

    await t.test('failed work returns the budget, and captured work keeps it', async (t) => {
      const clock = createClock(START)
      const world = await openWorld(t, { clock })
      const { ask, mint, grant, platform, request } = world
      await grant(10_000)
      const { id, key } = await mint(200)
      const first = (await ask('one', key)).body
      await request('POST', `/v1/apps/${world.app}/edits/${String(first['id'])}/cancel`)
      const spending = async () => (await platform.store.ledger.keySpending([id], START))[0]
      t.match(await spending(), { held: 0, spent: 0 })
      startWorker(t, world)
      const second = (await ask('two', key)).body
      const path = `/v1/apps/${world.app}/edits/${String(second['id'])}`
      await until(async () => (await request('GET', path)).body['status'] === 'completed')
      t.match(await spending(), { held: 0, spent: 100 })
    })

    await t.test('a dry run tells the price, and whose limit would refuse it', async (t) => {
      const clock = createClock(START)
      const world = await openWorld(t, { clock })
      const { ask, mint, grant, wallet, request, app, platform } = world
      await grant(150)
      const quoted = {
        status: 200,
        body: {
          dry_run: true,
          operation: 'edits.create',
          meter: 'edits',
          quantity: 1,
          price_version: 'v1',
          required_micros: 100,
          required: '0.0001',
          available_micros: 150,
          currency: 'USD',
          sufficient: true,
          source: null,
          key_id: null,
        },
      }
      t.match(await ask('hello', world.user, '?dry_run=true'), quoted)
      const { id, key } = await mint(60)
      t.match(await ask('hello', key, '?dry_run=true'), {
        status: 200,
        body: { available_micros: 60, sufficient: false, source: 'key', key_id: id },
      })
      const making = { body: { prompt: 'A shop' } }
      t.match(await request('POST', '/v1/apps?dry_run=true', making), {
        status: 200,
        body: {
          operation: 'apps.create',
          required_micros: 500,
          sufficient: false,
          source: 'wallet',
        },
      })
      t.match(await request('POST', '/v1/apps?dry_run=true', { body: { template_id: 'blank' } }), {
        status: 200,
        body: { quantity: 0, required_micros: 0, sufficient: true },
      })
      const operations = [{ op: 'write', path: 'a.txt', content: 'a' }]
      t.match(
        await request('POST', `/v1/apps/${app}/edits?dry_run=true`, {
          body: { operations, base_revision: 1 },
        }),
        { status: 200, body: { required_micros: 0, sufficient: true } },
      )
      t.match(
        await request('POST', '/v1/apps/none/edits?dry_run=true', { body: { prompt: 'x' } }),
        {
          status: 404,
        },
      )
      for (const body of [{}, { base_revision: 1 }, { prompt: 'x', base_revision: 1 }]) {
        const path = `/v1/apps/${app}/edits?dry_run=true`
        t.match(await request('POST', path, { body }), {
          status: 400,
          body: { error: { code: 'invalid_edit' } },
        })
      }
      t.same(await wallet(), { balance: 150, held: 0 })
      t.equal((await platform.store.edits.waiting(app)).length, 0)
      const { live } = await platform.store.apps.count(world.account.id)
      t.equal(live, 1)
    })

    await t.test(
      'a dry run of an upload counts what would be processed, and keeps nothing',
      async (t) => {
        const { processor } = scripted(() => undefined)
        const world = await openWorld(t, { fileProcessor: processor })
        const { request, app, grant, platform } = world
        await grant(1000)
        const path = `/v1/apps/${app}/files`
        await request('POST', path, { form: formOf([['known.md', 'z'.repeat(5)]]) })
        const files = [
          ['a.md', 'x'.repeat(20)],
          ['b.md', 'x'.repeat(20)],
          ['c.md', 'y'.repeat(30)],
          ['known.md', 'z'.repeat(5)],
        ] as const
        t.match(await request('POST', `${path}?dry_run=true`, { form: formOf(files) }), {
          status: 200,
          body: { operation: 'files.upload', meter: 'bytes', quantity: 50, required_micros: 100 },
        })
        const { data } = (await request('GET', path)).body as { readonly data: readonly AnyBody[] }
        t.equal(data.length, 1)
        for (const [, content] of files.slice(0, 3)) {
          const digest = createHash('sha256').update(content).digest('hex')
          t.equal(await platform.plugins.appBytes?.open(app, digest), undefined)
        }
        t.match(
          await request('POST', `${path}?dry_run=true`, { form: formOf([['a.exe', '\0']]) }),
          {
            status: 415,
          },
        )
      },
    )

    await t.test(
      'a metered account begins on free: it cannot mint, and its keys go on',
      async (t) => {
        const world = await openWorld(t)
        const { request, platform, mint, ask, grant, account } = world
        await grant(1000)
        const { key } = await mint()
        await platform.store.write((tx) =>
          tx.accounts.setPlan(account.id, 'free', platform.clock.now()),
        )
        const refused = { status: 403, body: { error: { code: 'dev_api_not_enabled' } } }
        const body = { name: 'a key', scopes: ['apps:read'] }
        t.match(await request('POST', '/v1/keys', { body }), refused)
        t.match(await ask('hello', key), { status: 202 })
        t.match(await request('GET', '/v1/billing/wallet', { as: key }), { body: { plan: 'free' } })
        t.match(await request('GET', '/v1/billing/limits', { as: key }), {
          body: { plan: 'free', data: [{ name: 'keys.create', limit: 0, source: 'plan' }] },
        })
      },
    )
  })
}

await t.test('without billing a dry run is free of charge', async (t) => {
  const families = [appsFamily, editsFamily]
  const editor = createMemoryEditor({ script: operationsOf })
  const world = await createWorld(t, { families, editor })
  t.match(await world.request('POST', '/v1/apps?dry_run=true', { body: { prompt: 'A shop' } }), {
    status: 200,
    body: { required_micros: 0, available_micros: null, currency: null, sufficient: true },
  })
})

await t.test('new accounts are on free where work is charged, else on pro', async (t) => {
  for (const [options, plan] of [
    [{ prices: pricesOf(PRICES) }, 'free'],
    [{}, 'pro'],
  ] as const) {
    const { request, operatorFor } = await createWorld(t, {
      families: [accountsFamily],
      ...options,
    })
    const made = await request('POST', '/v1/accounts', {
      as: operatorFor(null),
      body: { name: 'A' },
    })
    t.match(made, { status: 201, body: { plan } })
  }
})

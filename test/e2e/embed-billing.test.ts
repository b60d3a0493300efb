import t from 'tap'
import { ACCOUNT, REPORT, SHOPS, SHORT, openKeyhook } from '../support/embedded-shop.ts'
import { startPostgres } from '../support/postgres.ts'

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

for (const [name, openShop] of Object.entries(SHOPS)) {
  await t.test(name, async (t) => {
    const shop = await openShop(t, postgres)
    const { keyhook, sql } = shop
    const { billing, platform } = keyhook
    const account = keyhook.as(ACCOUNT)
    await account.billing.grant({ amount_micros: 1000, note: 'welcome' })

    const money = async (): Promise<readonly number[]> => {
      const { balance_micros, held_micros } = await account.billing.wallet()
      return [balance_micros, held_micros]
    }
    const rows = async (): Promise<number> =>
      sql === undefined ? 0 : (await sql('SELECT id FROM reports')).length
    const insert = async (id: string, transaction: object): Promise<unknown> =>
      sql?.(`INSERT INTO reports VALUES ('${id}')`, transaction)
    const released = async (...ids: readonly string[]): Promise<void> => {
      for (const operation_id of ids) await billing.release({ account_id: ACCOUNT, operation_id })
    }

    for (const [how, begin] of Object.entries(shop.begins)) {
      await t.test(`in ${how}: a hold and a capture commit with rows`, async (t) => {
        const [balance = 0] = await money()
        const before = await rows()
        const work = { account_id: ACCOUNT, operation_id: how.replaceAll(' ', '_') }
        await begin(async (transaction) => {
          await insert(work.operation_id, transaction)
          await billing.hold({ ...work, operation: 'reports.create' }, { transaction })
          const quoted = await billing.quote(REPORT, { transaction })
          t.equal(quoted.available_micros, balance - 100, 'which it sees')
        })
        t.same(await money(), [balance, 100])
        t.equal(await rows(), sql === undefined ? 0 : before + 1)
        const captured = await begin((transaction) => billing.capture(work, { transaction }))
        t.same(captured, { captured_micros: 100 })
        t.same(await billing.capture(work), { captured_micros: 100 }, 'once')
        t.same(await money(), [balance - 100, 0])
      })

      await t.test(`in ${how}: neither is there after a rollback`, async (t) => {
        const kept = [...(await money()), await rows()]
        const rolledBack = begin(async (transaction) => {
          await insert('never', transaction)
          await billing.hold({ ...REPORT, operation_id: 'never' }, { transaction })
          throw new Error('the work threw')
        })
        await t.rejects(rolledBack, { message: 'the work threw' })
        t.same([...(await money()), await rows()], kept)
        t.same(
          await billing.capture({ account_id: ACCOUNT, operation_id: 'never' }),
          { captured_micros: 0 },
          'and costs nothing',
        )
      })

      await t.test(`in ${how}: rows that are kept after a refusal`, async (t) => {
        const [balance] = await money()
        const before = await rows()
        await begin(async (transaction) => {
          const beyond = { ...REPORT, operation_id: 'beyond', quantity: 100 }
          await Promise.all([
            t.rejects(billing.hold(beyond, { transaction }), SHORT),
            insert(`kept ${how}`, transaction),
          ])
        })
        t.same(await money(), [balance, 0])
        t.equal(await rows(), sql === undefined ? 0 : before + 1)
      })

      await t.test(`in ${how}: holds at once, of which one can be paid`, async (t) => {
        const [balance = 0] = await money()
        const each = { ...REPORT, quantity: balance / 100 }
        const hold = (operation_id: string, transaction: object): Promise<object> =>
          billing.hold({ ...each, operation_id }, { transaction })
        const apart = await Promise.allSettled(
          ['one', 'two', 'three', 'four'].map((id) => begin((one) => hold(id, one))),
        )
        t.same(fulfilled(apart), 1, 'in a transaction each')
        t.same(await money(), [balance, balance])
        await released('one', 'two', 'three', 'four')

        const together = await begin((one) =>
          Promise.allSettled(['five', 'six', 'seven'].map((id) => hold(id, one))),
        )
        t.same(fulfilled(together), 1, 'in one transaction')
        t.same(await money(), [balance, balance])
        await released('five', 'six', 'seven')
      })

      await t.test(`in ${how}: of a call that failed nothing is kept`, async (t) => {
        if (sql === undefined) return
        const kept = await money()
        const table = 'keyhook_hold_lots'
        await begin(async (transaction) => {
          await sql(`ALTER TABLE ${table} RENAME TO elsewhere`, transaction)
          const failed = billing.hold({ ...REPORT, operation_id: 'torn' }, { transaction })
          await t.rejects(failed, 'in the midst of it')
          await sql(`ALTER TABLE elsewhere RENAME TO ${table}`, transaction)
        })
        t.same(await money(), kept)
      })
    }

    await t.test('a call that was not awaited ends before its transaction', async (t) => {
      const kept = await money()
      const work = { ...REPORT, operation_id: 'forgotten' }
      await keyhook.transaction(async (transaction) => {
        void billing.hold(work, { transaction })
      })
      t.same(await money(), [kept[0], 100])
      await released(work.operation_id)
    })

    await t.test('what is no transaction of the database is refused', async (t) => {
      const kept = await money()
      const work = { ...REPORT, operation_id: 'wrong' }
      const refused = async (transaction: unknown): Promise<void> => {
        const options = { transaction } as { transaction: object }
        await t.rejects(billing.hold(work, options), { name: 'TypeError' })
        const ended = { account_id: ACCOUNT, operation_id: 'wrong' }
        await t.rejects(billing.capture(ended, options), { name: 'TypeError' })
        await t.rejects(billing.release(ended, options), { name: 'TypeError' })
      }
      for (const nothing of [undefined, null, 'BEGIN', []]) await refused(nothing)
      let over: object = {}
      await keyhook.transaction(async (transaction) => {
        over = transaction
      })
      await refused(over)
      for (const use of Object.values(shop.wrong)) await use(refused)
      t.same(await money(), kept)
    })

    await t.test('an event of a low balance commits with the hold that made it so', async (t) => {
      const [balance = 0] = await money()
      await account.billing.updateWallet({ low_balance_micros: balance })
      const told = async (): Promise<number> =>
        (await account.events.list({ type: 'billing.balance_low' })).data.length
      const hold = (operation_id: string) => (transaction: object) =>
        billing.hold({ ...REPORT, operation_id }, { transaction })
      const rolledBack = keyhook.transaction(async (transaction) => {
        await hold('low')(transaction)
        throw new Error('rolled back')
      })
      await t.rejects(rolledBack)
      t.equal(await told(), 0)
      await keyhook.transaction(hold('low'))
      t.equal(await told(), 1)
      await released('low')
    })

    await t.test('a key spends at most its budget', async (t) => {
      const scopes = ['keys:read']
      const given = { name: 'agent', scopes, monthly_budget_micros: 150 }
      const { id: key_id } = await account.keys.create(given)
      const hold = (operation_id: string) => billing.hold({ ...REPORT, operation_id, key_id })
      await hold('k1')
      t.match(await billing.quote({ ...REPORT, key_id }), { sufficient: false, source: 'key' })
      const details = { source: 'key', key_id, available_micros: 50 }
      await t.rejects(hold('k2'), { ...SHORT, details })
      const unknown = { code: 'key_not_found' }
      await t.rejects(billing.hold({ ...REPORT, operation_id: 'k2', key_id: 'k' }), unknown)
      await t.rejects(billing.quote({ ...REPORT, key_id: 'k' }), unknown)
      const other = { ...REPORT, account_id: 'acct_2', operation_id: 'k2', key_id }
      await t.rejects(billing.hold(other), unknown, 'a key of another account')
      await released('k1')
    })

    await t.test('the ledger agrees, and names the operation', async (t) => {
      t.same((await platform.store.ledger.verify(null)).differences, [])
      const { data } = await account.billing.usage({ group_by: 'operation' })
      const count = Object.keys(shop.begins).length
      t.match(data, [{ group: { operation: 'reports.create' }, count, quantity: count }])
    })
  })
}

function fulfilled(outcomes: readonly PromiseSettledResult<unknown>[]): number {
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected' && !isShort(outcome.reason)) throw outcome.reason as Error
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length
}

function isShort(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === SHORT.code
}

await t.test('arguments of charging', async (t) => {
  const { billing } = await openKeyhook(t, t.testdir())
  type Loose = Readonly<
    Record<keyof typeof billing, (...args: readonly unknown[]) => Promise<unknown>>
  >
  const calls = billing as unknown as Loose
  const own = { account_id: ACCOUNT, operation_id: 'o_1' }
  const refused: readonly (readonly [keyof typeof billing, readonly unknown[], RegExp])[] = [
    ['hold', [], /work must be a plain object/],
    ['hold', [{ ...own, operation: 'reports.create', amount: 1 }], /unknown name amount/],
    ['hold', [{ ...own, operation: 'reports.create' }, { tx: {} }], /unknown name tx/],
    ['hold', [{ ...own, operation: 'reports.create' }, {}, {}], /takes \(work, options\)/],
    ['hold', [{ ...own }], /work\.operation must be/],
    ['hold', [{ ...own, operation: 'reports.crate' }], /Did you mean "reports.create"\?/],
    ['hold', [{ ...own, operation: 'constructor' }], /no operation "constructor"/],
    ['hold', [{ ...own, operation: 'reports.create', quantity: undefined }], /work\.quantity/],
    ['hold', [{ ...own, operation: 'reports.create', key_id: undefined }], /work\.key_id/],
    ...[0, -1, 0.5, 2 ** 53, '1'].map((quantity) => {
      const work = { ...own, operation: 'reports.create', quantity }
      return ['hold', [work], /work\.quantity must be a whole number, 1 or more/] as const
    }),
    ...[59, 604_801].map((lifetime_seconds) => {
      const work = { ...own, operation: 'reports.create', lifetime_seconds }
      return ['hold', [work], /lifetime_seconds must be a whole number of seconds/] as const
    }),
    ['hold', [{ ...own, account_id: 'a b', operation: 'reports.create' }], /work\.account_id/],
    ...['', 'a b', 'a\u0000', 'é', 'x'.repeat(129)].map((operation_id) => {
      const work = { ...own, operation_id, operation: 'reports.create' }
      return ['hold', [work], /work\.operation_id must be an id/] as const
    }),
    ['quote', [{ account_id: ACCOUNT, operation: 'reports' }], /no operation "reports"/],
    ['quote', [{ ...own, operation: 'reports.create' }], /unknown name operation_id/],
    ['capture', [{ ...own, operation: 'reports.create' }], /unknown name operation/],
    ['capture', [{ ...own, quantity: -1 }], /work\.quantity must be a whole number, 0 or more/],
    ['release', [{ ...own, quantity: 1 }], /unknown name quantity/],
    ['release', [{ account_id: ACCOUNT }], /work\.operation_id/],
  ]
  for (const [name, args, message] of refused) {
    await t.rejects(calls[name](...args), { name: 'TypeError', message }, String(message))
  }
})

await t.test('a hold ends once, at the price at which it was held', async (t) => {
  const keyhook = await openKeyhook(t, t.testdir())
  const { billing } = keyhook
  const account = keyhook.as(ACCOUNT)
  const work = { account_id: ACCOUNT, operation_id: 'r_1' }
  const three = { ...work, operation: 'reports.create', quantity: 3 }
  t.match(await billing.quote({ ...REPORT, quantity: 3 }), {
    meter: 'reports',
    required_micros: 300,
    available_micros: 0,
    sufficient: false,
    source: 'wallet',
  })
  await t.rejects(billing.hold(three), {
    ...SHORT,
    details: { operation: 'reports.create', required_micros: 300, available_micros: 0 },
  })
  await account.billing.grant({ amount_micros: 1000 })
  t.same(await billing.hold(three), { state: 'held' })
  t.same(await billing.hold(three), { state: 'held' })
  t.equal((await account.billing.wallet()).held_micros, 300, 'held once')
  t.same(await billing.capture({ ...work, quantity: 2 }), { captured_micros: 200 })
  await billing.release(work)
  t.same(await billing.hold(three), { state: 'captured' }, 'it has ended')
  t.match(await account.billing.wallet(), { balance_micros: 800, held_micros: 0 })

  await billing.hold({ ...three, operation_id: 'r_2' })
  await billing.release({ account_id: ACCOUNT, operation_id: 'r_2' })
  t.same(await billing.capture({ account_id: ACCOUNT, operation_id: 'r_2' }), {
    captured_micros: 0,
  })
  const free = { ...REPORT, operation_id: 'r_3', operation: 'reports.read', quantity: 9 }
  t.same(await billing.hold(free), { state: 'free' })
  t.same(await billing.capture({ account_id: ACCOUNT, operation_id: 'r_3' }), {
    captured_micros: 0,
  })
  t.match(await account.billing.wallet(), { balance_micros: 800, held_micros: 0 })

  const before = Date.now()
  await billing.hold({ ...three, operation_id: 'r_4', lifetime_seconds: 60 })
  const held = await keyhook.platform.store.ledger.getHold({ ...work, operation_id: 'r_4' })
  const lasts = (held?.deadline_at ?? 0) - before
  t.ok(lasts >= 60_000 && lasts <= 60_000 + (Date.now() - before))
})

await t.test(
  'without billing everything is free, and a misspelt operation still is none',
  async (t) => {
    const keyhook = await openKeyhook(t, t.testdir(), { billing: 'none' })
    const { billing } = keyhook
    const work = { account_id: ACCOUNT, operation_id: 'r_1' }
    await keyhook.transaction((transaction) =>
      billing.hold({ ...work, operation: 'reports.create' }, { transaction }),
    )
    t.same(await billing.capture(work), { captured_micros: 0 })
    await billing.release(work)
    t.match(await billing.quote(REPORT), { required_micros: 0, available_micros: null })
    const misspelt = billing.hold({ ...work, operation: 'reports.crate' })
    await t.rejects(misspelt, { name: 'TypeError' })
  },
)

import assert from 'node:assert/strict'
import type { HostingUse } from '../../plugins/platform/contract/hosting.ts'
import type { HeldPrice, Posted } from '../../plugins/platform/contract/ledger.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { ACCOUNT, STRANGER } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'
import { NOW, creditAll, sampleCredit } from './ledger-samples.ts'
import { sampleUsage } from './observation-samples.ts'

const DAY = '2023-11-13'
const METERS = ['egress_bytes', 'requests'] as const

const USE: HostingUse = {
  account_id: ACCOUNT,
  app_id: 'app_1',
  day: DAY,
  meter: 'requests',
  currency: 'USD',
  price_version: 'v1',
  price: { meter: 'requests', price_micros: 1, per: 10, minimum_micros: 0 },
  now: NOW,
}

const costOf = ({ price_micros, per }: HeldPrice, quantity: number): number =>
  Math.round((quantity * price_micros) / per)

async function count(
  store: PlatformStore,
  ...amounts: readonly (readonly [number, Parameters<typeof sampleUsage>[1]?])[]
): Promise<void> {
  await store.write((tx) =>
    tx.observations.addUsage(
      amounts.map(([amount, changes]) => sampleUsage(amount, { day: DAY, ...changes })),
      NOW,
    ),
  )
}

const charge = (
  store: PlatformStore,
  changes: Partial<HostingUse> = {},
): Promise<Posted | undefined> =>
  store.write((tx) => tx.hosting.charge({ ...USE, ...changes }, costOf))

async function openApps(store: PlatformStore): Promise<void> {
  await store.write(async (tx) => {
    await tx.apps.insert(sampleApp('app_1'))
    await tx.apps.insert(sampleApp('app_2', { account_id: STRANGER }))
  })
}

const lines = async (store: PlatformStore) => {
  const page = {
    limit: 50,
    after: null,
    kind: 'usage',
    key_id: null,
    from: null,
    to: null,
  } as const
  const { rows } = await store.ledger.transactions({
    ...page,
    account_id: ACCOUNT,
    app_id: 'app_1',
  })
  return rows.map(({ operation, meter, quantity, amount, debt, note }) => [
    operation,
    meter,
    quantity,
    amount + debt,
    note,
  ])
}

/** What apps served, as it is charged. */
export const hostingCases: readonly PlatformCase[] = [
  {
    name: 'hosting: a meter of an app and day is charged once, and what is counted later in addition',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await openApps(store)
      await creditAll(store, sampleCredit('1', { amount: 100 }))
      await count(store, [100], [50, { kind: 'preview' }], [70, { meter: 'errors' }])
      const due = () => store.hosting.due(DAY, METERS, 10)
      const { account_id, app_id, day, meter } = USE
      assert.deepEqual(await due(), [{ account_id, app_id, day, meter }])

      const all = await Promise.all([...racers, ...racers].map((one) => charge(one)))
      assert.deepEqual(
        all.flatMap((one) => (one === undefined ? [] : [one.amount])),
        [15],
        'release and preview together, by one of the callers',
      )
      assert.deepEqual(await due(), [])

      await count(store, [4], [7, { day: '2023-11-14' }])
      assert.deepEqual(await due(), [{ account_id, app_id, day, meter }])
      assert.equal(await charge(store), undefined, 'it rounds to nothing, all in all')
      assert.deepEqual(await due(), [])
      await count(store, [6])
      const other = { price_version: 'v2', price: { ...USE.price, price_micros: 1000 } }
      assert.equal((await charge(store, other))?.amount, 1, 'at the price of its first charge')
      assert.deepEqual(await lines(store), [
        ['hosting.requests', 'requests', 6, -1, DAY],
        ['hosting.requests', 'requests', 150, -15, DAY],
      ])
      const [row, ...others] = await store.hosting.charged('app_1')
      assert.deepEqual(others, [])
      assert.deepEqual(row, {
        app_id,
        day,
        meter,
        account_id,
        quantity: 160,
        charged: 16,
        parts: 2,
        price_version: 'v1',
        price: USE.price,
      })
      assert.deepEqual((await store.ledger.verify(null)).differences, [])
    },
  },
  {
    name: 'hosting: what the balance does not cover is a debt; without a commit nothing is charged',
    async run(harness) {
      const store = await harness.open()
      await openApps(store)
      await creditAll(store, sampleCredit('1', { amount: 9 }))
      await count(store, [100], [100, { app_id: 'app_2' }])
      const rolledBack = store.write(async (tx) => {
        await tx.hosting.charge(USE, costOf)
        throw new Error('the process ended')
      })
      await assert.rejects(rolledBack)
      assert.deepEqual(await store.hosting.charged('app_1'), [])
      assert.equal((await store.ledger.wallet(ACCOUNT, NOW))?.available, 9)

      await charge(store)
      await charge(store, { app_id: 'app_2', account_id: STRANGER })
      const owed = async (account: string) => (await store.ledger.wallet(account, NOW))?.debt
      assert.deepEqual([await owed(ACCOUNT), await owed(STRANGER)], [1, 10])
      assert.deepEqual(await store.hosting.due(DAY, METERS, 10), [])
      assert.deepEqual((await store.ledger.verify(null)).differences, [])
    },
  },
]

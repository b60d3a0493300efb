import assert from 'node:assert/strict'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { AppRecord } from '../../plugins/platform/contract/apps.ts'
import { ALIAS_KEPT, MOST_ALIASES_KEPT } from '../../plugins/platform/contract/apps.ts'
import type { PlatformCase } from './harness.ts'
import { ACCOUNT, BORN, STRANGER } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'

const insertApps = (store: PlatformStore, ...apps: readonly AppRecord[]): Promise<void> =>
  store.write(async (tx) => {
    for (const app of apps) await tx.apps.insert(app)
  })

const change = (
  store: PlatformStore,
  id: string,
  alias: string | null,
  now: number,
): Promise<boolean> => store.write((tx) => tx.apps.update(id, { alias }, now))

const aliasOf = async (store: PlatformStore, account: string, id: string) =>
  (await store.apps.get(account, id))?.alias

const isFree = (store: PlatformStore, account_id: string, now: number, app_id = 'app_9') =>
  store.apps.isAliasFree('shop', { account_id, app_id, now })

/** Whether it is free for its account, and for another. */
const freeAt = async (store: PlatformStore, now: number): Promise<readonly boolean[]> => [
  await isFree(store, ACCOUNT, now),
  await isFree(store, STRANGER, now),
]

const END = BORN + 1 + ALIAS_KEPT

/** Apps: whose an alias is, and for how long. */
export const appAliasCases: readonly PlatformCase[] = [
  {
    name: 'apps: an alias that is borne is free for nobody but who bears it',
    async run({ open }) {
      const store = await open()
      assert.deepEqual(await freeAt(store, BORN), [true, true])
      await insertApps(store, sampleApp('app_1', { alias: 'shop' }))
      await assert.rejects(insertApps(store, sampleApp('app_2', { alias: 'shop' })))
      assert.deepEqual(await freeAt(store, BORN), [false, false])
      assert.equal(await isFree(store, ACCOUNT, BORN, 'app_1'), true)
    },
  },
  {
    name: 'apps: an alias that was given up is its account’s alone until it is not kept any more',
    async run({ open }) {
      const store = await open()
      await insertApps(store, sampleApp('app_1', { alias: 'shop' }))
      assert.equal(await change(store, 'app_1', 'shop', BORN), true)
      assert.equal(await store.purge('left_aliases', END, 9), 0, 'nothing was given up')
      assert.equal(await change(store, 'app_1', 'store', BORN + 1), true)
      assert.deepEqual(await freeAt(store, END - 1), [true, false])
      assert.deepEqual(await freeAt(store, END), [true, true])
      assert.equal(await store.purge('left_aliases', END, 9), 0)
      assert.equal(await store.purge('left_aliases', END + 1, 9), 1)
    },
  },
  {
    name: 'apps: an alias that is given up once more is kept from then on, for who had it last',
    async run({ open }) {
      const store = await open()
      const other = sampleApp('app_2', { account_id: STRANGER, alias: null })
      await insertApps(store, sampleApp('app_1', { alias: 'shop' }), other)
      await change(store, 'app_1', null, BORN + 1)
      await change(store, 'app_2', 'shop', END)
      await change(store, 'app_2', null, END + 1)
      assert.deepEqual(await freeAt(store, END + ALIAS_KEPT), [false, true])
      assert.deepEqual(await freeAt(store, END + 1 + ALIAS_KEPT), [true, true])
    },
  },
  {
    name: 'apps: the alias of an archived app is kept while it can be restored, and after it is purged',
    async run({ open }) {
      const store = await open()
      await insertApps(store, sampleApp('app_1', { alias: 'shop' }))
      await store.write((tx) => tx.apps.archive('app_1', BORN, BORN + 9))
      assert.deepEqual(await freeAt(store, BORN + 8 + ALIAS_KEPT), [true, false])
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 8)), false)
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 20)), true)
      assert.deepEqual(await freeAt(store, BORN + 19 + ALIAS_KEPT), [true, false])
      assert.deepEqual(await freeAt(store, BORN + 20 + ALIAS_KEPT), [true, true])
    },
  },
  {
    name: 'apps: of aliases that were given up so many are kept for an account, those that are longest',
    async run({ open }) {
      const store = await open()
      const other = sampleApp('app_2', { alias: 'other', account_id: STRANGER })
      await insertApps(store, sampleApp('app_1', { alias: 'shop' }), other)
      await change(store, 'app_2', null, BORN)
      await store.write(async (tx) => {
        for (let turn = 1; turn <= MOST_ALIASES_KEPT; turn++) {
          await tx.apps.update('app_1', { alias: `shop-${turn}` }, BORN + turn)
        }
      })
      const now = BORN + MOST_ALIASES_KEPT
      assert.deepEqual(await freeAt(store, now), [true, false])
      await change(store, 'app_1', null, now + 1)
      assert.deepEqual(await freeAt(store, now + 1), [true, true])
      assert.equal(await store.purge('left_aliases', BORN + 2 ** 40, 999), MOST_ALIASES_KEPT + 1)
    },
  },
  {
    name: 'apps: whoever is restored has its alias again, unless another app took it',
    async run({ open }) {
      const store = await open()
      await insertApps(store, sampleApp('app_1', { alias: 'shop' }))
      const archive = () => store.write((tx) => tx.apps.archive('app_1', BORN + 1, BORN + 9))
      const restore = () => store.write((tx) => tx.apps.restore('app_1', BORN + 2))
      await archive()
      await restore()
      assert.equal(await aliasOf(store, ACCOUNT, 'app_1'), 'shop')
      await archive()
      await insertApps(store, sampleApp('app_3', { alias: 'shop', account_id: STRANGER }))
      await restore()
      assert.equal(await aliasOf(store, ACCOUNT, 'app_1'), null)
      assert.equal(await aliasOf(store, STRANGER, 'app_3'), 'shop')
    },
  },
]

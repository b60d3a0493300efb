import assert from 'node:assert/strict'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { AppListQuery, AppRecord } from '../../plugins/platform/contract/apps.ts'
import { placeOfApp } from '../../plugins/platform/contract/apps.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import { ACCOUNT, BORN, STRANGER } from '../../plugins/store/conformance/samples.ts'
import { sampleApp, sampleRevision } from './app-samples.ts'

const ALL: AppListQuery = {
  account_id: ACCOUNT,
  ids: null,
  archived: 'exclude',
  status: null,
  alias: null,
  limit: 2,
  after: null,
}

async function insertApps(store: PlatformStore, ...apps: readonly AppRecord[]): Promise<void> {
  await store.write(async (tx) => {
    for (const app of apps) await tx.apps.insert(app)
  })
}

async function listIds(store: PlatformStore, query: Partial<AppListQuery> = {}): Promise<string[]> {
  const page = await store.apps.list({ ...ALL, limit: 100, ...query })
  return page.rows.map(({ id }) => id)
}

const recordCases: readonly PlatformCase[] = [
  {
    name: 'apps: a record comes back as it was inserted; a foreign or unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      const full = sampleApp('app_1', {
        alias: 'shop',
        status: 'creating',
        source: { kind: 'clone', template_id: 'notes', cloned_from: 'app_0' },
        metadata: { stage: 'trial', 'k\u00e9y': '' },
        created_by: { type: 'operator', id: null },
        archived_at: BORN + 1,
        purge_at: BORN + 2,
      })
      await insertApps(store, full, sampleApp('app_2'))
      assert.deepEqual(await store.apps.get(ACCOUNT, 'app_1'), full)
      assert.deepEqual(await store.apps.get(ACCOUNT, 'app_2'), sampleApp('app_2'))
      assert.equal(await store.apps.get(STRANGER, 'app_1'), undefined)
      assert.equal(await store.apps.get(ACCOUNT, 'app_9'), undefined)
    },
  },
  {
    name: 'apps: pages run newest first over equal instants, whole while apps are made',
    async run({ open }) {
      const store = await open()
      await insertApps(
        store,
        sampleApp('app_b', { created_at: BORN }),
        sampleApp('app_a', { created_at: BORN }),
        sampleApp('app_c', { created_at: BORN }),
        sampleApp('app_0', { created_at: BORN + 5 }),
        sampleApp('app_x', { account_id: STRANGER }),
      )
      const seen: string[] = []
      let after: string | null = null
      for (let pages = 0; pages < 9; pages++) {
        const page = await store.apps.list({ ...ALL, after })
        seen.push(...page.rows.map(({ id }) => id))
        await insertApps(store, sampleApp(`app_new${pages}`, { created_at: BORN + 10 + pages }))
        const last = page.rows.at(-1)
        if (!page.more || last === undefined) break
        after = placeOfApp(last)
      }
      assert.deepEqual(seen, ['app_0', 'app_c', 'app_b', 'app_a'])
    },
  },
  {
    name: 'apps: a page ends with the metadata that reaches its bytes',
    async run({ open }) {
      const store = await open()
      // 200 bytes each and more, the names of the members included.
      const metadata = { text: 'é'.repeat(100) }
      const ids = ['app_1', 'app_2', 'app_3']
      await insertApps(store, ...ids.map((id) => sampleApp(id, { metadata })))
      const page = (bytes: number) => store.apps.list({ ...ALL, limit: 9, bytes })
      for (const [bytes, count] of [
        [1, 1],
        [201, 1],
        [250, 2],
        [9999, 3],
      ] as const) {
        const { rows, more } = await page(bytes)
        assert.deepEqual([rows.length, more], [count, count < 3], `${bytes} bytes`)
      }
    },
  },
  {
    name: 'apps: owned answers those of the account, archived or not',
    async run({ open }) {
      const store = await open()
      await insertApps(
        store,
        sampleApp('app_1'),
        sampleApp('app_2', { archived_at: BORN, purge_at: BORN + 1 }),
        sampleApp('app_3', { account_id: STRANGER }),
        sampleApp('app_4'),
      )
      const asked = ['app_1', 'app_2', 'app_3', 'app_9']
      const owned = await store.write((tx) => tx.apps.owned(ACCOUNT, asked))
      assert.deepEqual([...owned].sort(), ['app_1', 'app_2'])
      assert.deepEqual(await store.apps.owned(ACCOUNT, []), [])
    },
  },
  {
    name: 'apps: lists go by pins, status and alias, and leave out what is archived',
    async run({ open }) {
      const store = await open()
      await insertApps(
        store,
        sampleApp('app_1', { alias: 'one' }),
        sampleApp('app_2', { status: 'failed' }),
        sampleApp('app_3', { archived_at: BORN }),
      )
      assert.deepEqual(await listIds(store), ['app_2', 'app_1'])
      assert.deepEqual(await listIds(store, { archived: 'include' }), ['app_3', 'app_2', 'app_1'])
      assert.deepEqual(await listIds(store, { archived: 'only' }), ['app_3'])
      assert.deepEqual(await listIds(store, { ids: ['app_2', 'app_3', 'app_9'] }), ['app_2'])
      assert.deepEqual(await listIds(store, { status: 'failed' }), ['app_2'])
      assert.deepEqual(await listIds(store, { alias: 'one' }), ['app_1'])
      assert.deepEqual(await store.apps.count(ACCOUNT), { live: 2, archived: 1 })
      assert.deepEqual(await store.apps.count(STRANGER), { live: 0, archived: 0 })
    },
  },
  {
    name: 'apps: a change touches what it names, and nothing of an archived app',
    async run({ open }) {
      const store = await open()
      await insertApps(store, sampleApp('app_1', { alias: 'one', metadata: { a: '1' } }))
      const update = (changes: object, now: number) =>
        store.write((tx) => tx.apps.update('app_1', changes, now))
      assert.equal(await update({ name: 'New' }, BORN + 1), true)
      assert.equal(await update({ alias: null, metadata: {} }, BORN + 2), true)
      const changed = sampleApp('app_1', { name: 'New', updated_at: BORN + 2 })
      assert.deepEqual(await store.apps.get(ACCOUNT, 'app_1'), changed)
      await store.write((tx) => tx.apps.archive('app_1', BORN + 3, BORN + 9))
      assert.equal(await update({ name: 'Never' }, BORN + 4), false)
      assert.equal((await store.apps.get(ACCOUNT, 'app_1'))?.name, 'New')
    },
  },
]

const moveCases: readonly PlatformCase[] = [
  {
    name: 'apps: of two that advance from the same revision one wins, and its files are current',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertApps(racers[0], sampleApp('app_1', { revision: null }))
      const first = sampleRevision('app_1', 1)
      assert.equal(await racers[0].write((tx) => tx.apps.advance(first, null)), true)
      const won = await Promise.all(
        racers.map((store, turn) =>
          store.write((tx) =>
            tx.apps.advance(sampleRevision('app_1', 2, { message: `${turn}` }), 1),
          ),
        ),
      )
      assertOneWon(won)
      const app = await racers[0].apps.get(ACCOUNT, 'app_1')
      assert.equal(app?.revision, 2)
      const second = sampleRevision('app_1', 2, { message: won[0] === true ? '0' : '1' })
      assert.deepEqual(await racers[0].apps.revision('app_1', 2), second)
      assert.deepEqual(await racers[0].apps.revision('app_1', 1), first)
      assert.equal(await racers[0].apps.revision('app_1', 3), undefined)
    },
  },
  {
    name: 'apps: an advance that rolls back leaves neither revision nor change',
    async run({ open }) {
      const store = await open()
      await insertApps(store, sampleApp('app_1', { revision: null }))
      const failed = store.write(async (tx) => {
        await tx.apps.advance(sampleRevision('app_1', 1), null)
        throw new Error('no')
      })
      await assert.rejects(failed, /no/)
      assert.equal((await store.apps.get(ACCOUNT, 'app_1'))?.revision, null)
      assert.equal(await store.apps.revision('app_1', 1), undefined)
    },
  },
  {
    name: 'apps: revisions are listed newest first, page by page',
    async run({ open }) {
      const store = await open()
      await insertApps(store, sampleApp('app_1', { revision: null }))
      await store.write(async (tx) => {
        for (const number of [1, 2, 3]) {
          await tx.apps.advance(sampleRevision('app_1', number), number === 1 ? null : number - 1)
        }
      })
      const page = await store.apps.revisions({ app_id: 'app_1', limit: 2, before: null })
      assert.deepEqual([page.rows.map(({ number }) => number), page.more], [[3, 2], true])
      const rest = await store.apps.revisions({ app_id: 'app_1', limit: 2, before: 2 })
      assert.deepEqual([rest.rows.map(({ number }) => number), rest.more], [[1], false])
    },
  },
  {
    name: 'apps: a status moves on from where it is said to stand alone',
    async run({ open }) {
      const store = await open()
      await insertApps(store, sampleApp('app_1', { status: 'creating' }))
      const move = (from: 'creating' | 'failed') =>
        store.write((tx) => tx.apps.move('app_1', from, 'ready', BORN + 1))
      assert.equal(await move('failed'), false)
      assert.equal(await move('creating'), true)
      assert.equal(await move('creating'), false)
      assert.equal((await store.apps.get(ACCOUNT, 'app_1'))?.status, 'ready')
    },
  },
]

const archiveCases: readonly PlatformCase[] = [
  {
    name: 'apps: of two that archive an app one wins; then nothing but restoring changes it',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertApps(racers[0], sampleApp('app_1', { status: 'creating', revision: null }))
      const archive = (store: PlatformStore) =>
        store.write((tx) => tx.apps.archive('app_1', BORN + 1, BORN + 9))
      assertOneWon(await Promise.all(racers.map(archive)))
      const [store] = racers
      const archived = await store.apps.get(ACCOUNT, 'app_1')
      assert.deepEqual([archived?.archived_at, archived?.purge_at], [BORN + 1, BORN + 9])
      await store.write(async (tx) => {
        assert.equal(await tx.apps.move('app_1', 'creating', 'ready', BORN + 2), false)
        assert.equal(await tx.apps.advance(sampleRevision('app_1', 1), null), false)
      })
      const restore = (one: PlatformStore) => one.write((tx) => tx.apps.restore('app_1', BORN + 3))
      assertOneWon(await Promise.all(racers.map(restore)))
      const restored = sampleApp('app_1', {
        status: 'creating',
        revision: null,
        updated_at: BORN + 3,
      })
      assert.deepEqual(await store.apps.get(ACCOUNT, 'app_1'), restored)
    },
  },
  {
    name: 'apps: what is archived is purged once its time has come, with its revisions, once',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertApps(
        store,
        sampleApp('app_1', { archived_at: BORN, purge_at: BORN + 8, revision: null }),
        sampleApp('app_2', { archived_at: BORN, purge_at: BORN + 5, revision: null }),
        sampleApp('app_3', { archived_at: BORN, purge_at: BORN + 9 }),
        sampleApp('app_4', { revision: null }),
      )
      await store.write((tx) => tx.apps.advance(sampleRevision('app_4', 1), null))
      await store.write((tx) => tx.apps.archive('app_4', BORN + 1, BORN + 7))
      assert.deepEqual(await store.apps.due(BORN + 8, 9), ['app_2', 'app_4', 'app_1'])
      assert.deepEqual(await store.apps.due(BORN + 8, 1), ['app_2'])
      const purge = (one: PlatformStore, id: string) =>
        one.write((tx) => tx.apps.purge(id, BORN + 8))
      assertOneWon(await Promise.all(racers.map((one) => purge(one, 'app_4'))))
      assert.equal(await purge(store, 'app_3'), false)
      assert.equal(await store.apps.exists('app_4'), false)
      assert.equal(await store.apps.exists('app_3'), true)
      assert.equal(await store.apps.revision('app_4', 1), undefined)
    },
  },
]

/** Apps: their records, revisions and archive. */
export const appCases: readonly PlatformCase[] = [...recordCases, ...moveCases, ...archiveCases]

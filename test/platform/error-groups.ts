import assert from 'node:assert/strict'
import type { ErrorGroupQuery, ToldErrors } from '../../plugins/platform/contract/error-groups.ts'
import {
  MAX_NEW_OF_REPORTER,
  MAX_NEW_ERROR_GROUPS,
  MAX_ERROR_GROUPS,
  placeOfErrorGroup,
} from '../../plugins/platform/contract/error-groups.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import {
  ALL_ERROR_GROUPS,
  insertObserved,
  openedBy,
  sampleTold,
  tell,
} from './observation-samples.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'

const resolve = (store: PlatformStore, id: string, after: number): Promise<boolean> =>
  store.write((tx) => tx.observations.resolveErrorGroup('app_1', id, BORN + after))

async function titlesOf(
  store: PlatformStore,
  query: Partial<ErrorGroupQuery> = {},
): Promise<string[]> {
  const { rows } = await store.observations.errorGroups({ ...ALL_ERROR_GROUPS, ...query })
  return rows.map(({ title }) => title)
}

const countCases: readonly PlatformCase[] = [
  {
    name: 'error groups: one comes back as it was told; a foreign or unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1', 'app_2')
      const full = sampleTold('TypeError: „x“ is "undefined"', 5, {
        kind: 'preview',
        count: 3,
        first_seen: BORN + 1,
        deployment_id: null,
        edit_id: null,
        sample: { message: 'm', stack: 'at a\nat b', url: '/größe' },
      })
      assert.equal(await tell(store, full, sampleTold('gone', 1, { app_id: 'app_9' })), 1)
      assert.equal(await tell(store), 0)
      assert.deepEqual(await store.observations.errorGroup('app_1', full.id), openedBy(full))
      assert.equal(await store.observations.errorGroup('app_2', full.id), undefined)
      assert.equal(await store.observations.errorGroup('app_1', 'none'), undefined)
    },
  },
  {
    name: 'error groups: what is told again counts on, by app, kind and fingerprint',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertObserved(store, 'app_1', 'app_2')
      const first = sampleTold('one', 10)
      await tell(store, first)
      const later = sampleTold('one', 20, {
        deployment_id: 'dep_2',
        sample: { message: 'later', stack: null, url: '/later' },
      })
      const early = sampleTold('one', 5, { sample: { message: 'early', stack: null, url: '/' } })
      await tell(store, { ...later, count: 4 })
      await tell(store, early)
      const counted = { ...openedBy(first), count: 6, first_seen: BORN + 5, last_seen: BORN + 20 }
      assert.deepEqual(await store.observations.errorGroup('app_1', first.id), {
        ...counted,
        sample: later.sample,
      })
      const others = [
        sampleTold('two', 21),
        sampleTold('one', 21, { kind: 'preview' }),
        sampleTold('one', 22, { app_id: 'app_2' }),
      ]
      assert.equal(await tell(store, ...others, sampleTold('one', 20)), 4)
      assert.equal((await store.observations.errorGroups(ALL_ERROR_GROUPS)).rows.length, 3)
      await Promise.all(
        Array.from({ length: 10 }, (_, turn) =>
          tell(racers[turn % 2 === 0 ? 0 : 1], sampleTold('one', 30 + turn)),
        ),
      )
      assert.equal((await store.observations.errorGroup('app_1', first.id))?.count, 17)
    },
  },
  {
    name: 'error groups: of two that resolve one wins, and what is seen later opens it again',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertObserved(store, 'app_1')
      const told = sampleTold('one', 10)
      await tell(store, told)
      assertOneWon(await Promise.all(racers.map((one) => resolve(one, told.id, 20))))
      const group = () => store.observations.errorGroup('app_1', told.id)
      const resolved = { ...openedBy(told), status: 'resolved' as const, resolved_at: BORN + 20 }
      assert.deepEqual(await group(), resolved)
      // It was seen before, and only told of later.
      await tell(store, sampleTold('one', 20, { deployment_id: 'dep_2' }))
      assert.deepEqual(await group(), { ...resolved, count: 2, last_seen: BORN + 20 })
      const brought = { deployment_id: 'dep_3', edit_id: null }
      await tell(store, sampleTold('one', 21, brought))
      const reopened = { status: 'open' as const, reopened_at: BORN + 21, last_seen: BORN + 21 }
      const back = { ...resolved, ...reopened, ...brought, count: 3 }
      assert.deepEqual(await group(), back)
      assert.equal(await resolve(store, told.id, 30), true)
      assert.deepEqual(await group(), { ...back, status: 'resolved', resolved_at: BORN + 30 })
      assert.equal(await resolve(store, 'none', 30), false)
      const foreign = store.write((tx) => tx.observations.resolveErrorGroup('app_2', told.id, BORN))
      assert.equal(await foreign, false)
    },
  },
]

const listCases: readonly PlatformCase[] = [
  {
    name: 'error groups: pages run from those seen last, over equal instants',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1', 'app_2')
      const all = ['a', 'b', 'c', 'd', 'e'].map((name) => sampleTold(name, 7))
      await tell(store, ...all, sampleTold('x', 1, { app_id: 'app_2' }))
      await tell(store, sampleTold('old', 1), sampleTold('new', 9))
      const seen: string[] = []
      for (let after: string | null = null, pages = 0; pages < 9; pages++) {
        const page = await store.observations.errorGroups({ ...ALL_ERROR_GROUPS, limit: 3, after })
        seen.push(...page.rows.map(({ title }) => title))
        const last = page.rows.at(-1)
        if (!page.more || last === undefined) break
        after = placeOfErrorGroup(last)
      }
      const byId = all.toSorted((a, b) => (a.id > b.id ? -1 : 1)).map(({ title }) => title)
      assert.deepEqual(seen, ['new', ...byId, 'old'])
    },
  },
  {
    name: 'error groups: lists go by kind, status, time, and what title or culprit holds',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1')
      const one = sampleTold('100% of _it', 1)
      await tell(
        store,
        one,
        sampleTold('two', 2, { kind: 'preview' }),
        sampleTold('three', 3, { culprit: 'draw (/cart.js)' }),
      )
      await resolve(store, one.id, 4)
      assert.deepEqual(await titlesOf(store, { kind: 'preview' }), ['two'])
      assert.deepEqual(await titlesOf(store, { status: 'resolved' }), ['100% of _it'])
      assert.deepEqual(await titlesOf(store, { status: 'open' }), ['three', 'two'])
      assert.deepEqual(await titlesOf(store, { since: BORN + 2 }), ['three', 'two'])
      assert.deepEqual(await titlesOf(store, { text: '0% of _' }), ['100% of _it'])
      assert.deepEqual(await titlesOf(store, { text: 't%e' }), [])
      assert.deepEqual(await titlesOf(store, { text: 'cart.js' }), ['three'])
    },
  },
]

/** Each is reported by a network of its own, unless it is told which. */
const many = (prefix: string, count: number, after: number, reporter?: number) =>
  Array.from({ length: count }, (_, index) =>
    sampleTold(`${prefix}${index}`, after + index, { reporter: reporter ?? index }),
  )

/** Tells of new error groups, no more at a time than are taken. */
async function fill(store: PlatformStore, told: readonly ToldErrors[]): Promise<void> {
  for (let at = 0; at < told.length; at += MAX_NEW_ERROR_GROUPS) {
    const some = told.slice(at, at + MAX_NEW_ERROR_GROUPS)
    assert.equal(await tell(store, ...some), some.length)
  }
}

const roomCases: readonly PlatformCase[] = [
  {
    name: 'error groups: of one app so many new ones are taken at a time, and known ones count',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1', 'app_2')
      await tell(store, sampleTold('known', 0))
      const told = [...many('a', MAX_NEW_ERROR_GROUPS + 2, 1), sampleTold('known', 1000)]
      const kept = await tell(store, ...told, sampleTold('x', 1, { app_id: 'app_2' }))
      assert.equal(kept, MAX_NEW_ERROR_GROUPS + 2)
      const titles = await titlesOf(store)
      assert.equal(titles.length, MAX_NEW_ERROR_GROUPS + 1)
      assert.deepEqual(titles.slice(0, 2), ['known', `a${MAX_NEW_ERROR_GROUPS - 1}`])
      assert.deepEqual(await titlesOf(store, { app_id: 'app_2' }), ['x'])
    },
  },
  {
    name: 'error groups: a network brings few new ones at a time, and known ones count',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1', 'app_2')
      const known = many('known', 9, 0)
      await tell(store, ...known)
      const noise = many('noise', 50, 10, 1)
      const told = [...noise, ...known.map((one) => ({ ...one, reporter: 1 }))]
      const elsewhere = sampleTold('x', 1, { app_id: 'app_2', reporter: 1 })
      const real = sampleTold('real', 90, { reporter: 2 })
      assert.equal(await tell(store, ...told, elsewhere, real), MAX_NEW_OF_REPORTER + 9 + 2)
      const fresh = (await titlesOf(store)).filter((title) => !title.startsWith('known'))
      const first = noise.slice(0, MAX_NEW_OF_REPORTER).map(({ title }) => title)
      assert.deepEqual(fresh, ['real', ...first.toReversed()])
      assert.deepEqual(await titlesOf(store, { app_id: 'app_2' }), ['x'])
    },
  },
  {
    name: 'error groups: networks bring new ones in turn, the first of each before the second of any',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1')
      const noise = [1, 2, 3, 4, 5].flatMap((reporter) =>
        many(`noise${reporter}.`, 30, 100 * reporter, reporter),
      )
      const real = [6, 7].map((reporter) => sampleTold(`real${reporter}`, 1000, { reporter }))
      assert.equal(await tell(store, ...noise, ...real), MAX_NEW_ERROR_GROUPS)
      const titles = await titlesOf(store)
      assert.ok(titles.includes('real6') && titles.includes('real7'))
      const shares = [1, 2, 3, 4, 5].map(
        (reporter) => titles.filter((title) => title.startsWith(`noise${reporter}.`)).length,
      )
      assert.deepEqual(shares, [4, 4, 4, 3, 3])
    },
  },
  {
    name: 'error groups: new ones take the places of the resolved ones unseen for longest',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1')
      const first = many('a', MAX_ERROR_GROUPS, 0)
      await fill(store, first)
      for (const index of [7, 3, 5]) {
        assert.equal(await resolve(store, first[index]?.id ?? '', 1000), true)
      }
      // a3 would go first, had it not been seen again, before it was resolved.
      const told = [sampleTold('new', 1001), sampleTold('a3', 999), sampleTold('newer', 1002)]
      assert.equal(await tell(store, ...told), 3)
      const titles = await titlesOf(store)
      assert.equal(titles.length, MAX_ERROR_GROUPS)
      assert.deepEqual(titles.slice(0, 3), ['newer', 'new', 'a3'])
      assert.ok(!titles.includes('a5') && !titles.includes('a7') && titles.includes('a0'))
    },
  },
  {
    name: 'error groups: then those of the open ones that occurred least, and of these the oldest',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1', 'app_2')
      const often = many('often', MAX_ERROR_GROUPS - 6, 0).map((one) => ({ ...one, count: 3 }))
      await fill(store, often)
      await fill(store, many('once', 4, 1000))
      const twice = sampleTold('twice', 1, { count: 2 })
      const resolved = sampleTold('resolved', 2000, { count: 9 })
      await tell(store, twice, resolved, sampleTold('x', 1, { app_id: 'app_2' }))
      assert.equal(await resolve(store, resolved.id, 2000), true)
      const left = async (): Promise<readonly string[]> => {
        const titles = await titlesOf(store)
        assert.equal(titles.length, MAX_ERROR_GROUPS)
        return titles.filter((title) => !title.startsWith('often'))
      }
      assert.equal(await tell(store, sampleTold('b0', 3000), sampleTold('b1', 3001)), 2)
      assert.deepEqual(await left(), ['b1', 'b0', 'once3', 'once2', 'once1', 'twice'])
      // once1 would go first, had it not been seen again.
      assert.equal(await tell(store, sampleTold('once1', 3002), sampleTold('b2', 3003)), 2)
      assert.deepEqual(await left(), ['b2', 'once1', 'b1', 'b0', 'once3', 'twice'])
      assert.equal(
        await tell(store, ...many('c', MAX_NEW_ERROR_GROUPS + 9, 4000)),
        MAX_NEW_ERROR_GROUPS,
      )
      const titles = await titlesOf(store)
      assert.equal(titles.length, MAX_ERROR_GROUPS)
      assert.equal(titles.filter((title) => title.startsWith('c')).length, MAX_NEW_ERROR_GROUPS)
      assert.ok(!titles.includes('twice') && !titles.includes('often13'))
      assert.ok(titles.includes('often14') && titles.includes('often400'))
      assert.deepEqual(await titlesOf(store, { app_id: 'app_2' }), ['x'])
    },
  },
]

/** Error groups: what a page's browser told of, by what is the same in it. */
export const errorGroupCases: readonly PlatformCase[] = [...countCases, ...listCases, ...roomCases]

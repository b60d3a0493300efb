import assert from 'node:assert/strict'
import type { LineQuery, TailQuery } from '../../plugins/platform/contract/observations.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon, readPages } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import {
  ALL_LINES,
  ALL_ERROR_GROUPS,
  TAIL,
  addLines,
  idAt,
  insertObserved,
  openedBy,
  sampleCheck,
  sampleLine,
  sampleTold,
  sampleUsage,
  tell,
} from './observation-samples.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'

const lineCases: readonly PlatformCase[] = [
  {
    name: 'observations: lines come back as they were added, once each, of apps that are there',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1', 'app_2')
      const full = sampleLine(5, {
        kind: 'preview',
        deployment_id: null,
        method: 'HEAD',
        path: '/größe/„S“"\\.html',
        status: 404,
        bytes: 4_294_967_296,
      })
      const other = sampleLine(5, { app_id: 'app_2' })
      await addLines(store, full, other, sampleLine(5, { app_id: 'app_9' }))
      await addLines(store, { ...full, status: 200 }, sampleLine(6))
      await addLines(store)
      const { rows, more } = await store.observations.lines(ALL_LINES)
      assert.deepEqual([rows, more], [[sampleLine(6), full], false])
      assert.deepEqual((await store.observations.lines({ ...ALL_LINES, app_id: 'app_2' })).rows, [
        other,
      ])
      await insertObserved(store, 'app_9')
      assert.deepEqual((await store.observations.lines({ ...ALL_LINES, app_id: 'app_9' })).rows, [])
    },
  },
  {
    name: 'observations: pages of lines run newest first, whole while lines are added',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1')
      const lines = [1, 2, 3, 4, 5].map((mark) => sampleLine(7, { mark }))
      await addLines(store, ...lines)
      let added = 5
      const seen = await readPages(
        (after) => store.observations.lines({ ...ALL_LINES, limit: 2, after }),
        () => addLines(store, sampleLine(7, { mark: ++added })),
      )
      assert.deepEqual(seen, lines.map(({ id }) => id).toReversed())
    },
  },
  {
    name: 'observations: lists of lines go by kind, class of status, time, path and deployment',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1')
      await addLines(
        store,
        sampleLine(1, { path: '/shop_1' }),
        sampleLine(2, { path: '/shop%', status: 304 }),
        sampleLine(3, { path: '/Shop', status: 599, deployment_id: 'dep_2' }),
        sampleLine(4, { path: '/shop/a', kind: 'preview', deployment_id: null }),
      )
      const found = async (query: Partial<LineQuery>): Promise<number[]> => {
        const { rows } = await store.observations.lines({ ...ALL_LINES, ...query })
        return rows.map(({ at }) => at - BORN)
      }
      assert.deepEqual(await found({ kind: 'preview' }), [4])
      assert.deepEqual(await found({ status_class: 5 }), [3])
      assert.deepEqual(await found({ status_class: 3 }), [2])
      assert.deepEqual(await found({ since: BORN + 2, until: BORN + 4 }), [3, 2])
      assert.deepEqual(await found({ path: '/shop' }), [4, 2, 1])
      assert.deepEqual(await found({ path: '/shop_' }), [1])
      assert.deepEqual(await found({ path: '/shop%' }), [2])
      assert.deepEqual(await found({ deployment_id: 'dep_1', kind: 'published' }), [2, 1])
      assert.deepEqual(await found({ status_class: 4 }), [])
    },
  },
  {
    name: 'observations: a page looks at so many lines, and one that finds less leads on',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1', 'app_2')
      const failed = [1, 5, 6, 7]
      const made = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
      await addLines(
        store,
        ...made.map((mark) => sampleLine(mark, { status: failed.includes(mark) ? 500 : 200 })),
        ...made.map((mark) => sampleLine(mark, { status: 500, app_id: 'app_2' })),
      )
      const pagesOf = async (query: Partial<LineQuery>): Promise<readonly number[][]> => {
        const pages: number[][] = []
        for (let after: string | null = null; pages.length < 20;) {
          const asked = { ...ALL_LINES, ...query, after }
          const { rows, more, next } = await store.observations.lines(asked, 3)
          pages.push(rows.map(({ at }) => at - BORN))
          if (!more) return pages
          after = next ?? rows.at(-1)?.id ?? assert.fail('a page that leads on says where')
        }
        return pages
      }
      assert.deepEqual(await pagesOf({ status_class: 5 }), [[], [7, 6], [5], [1]])
      assert.deepEqual(await pagesOf({ status_class: 5, limit: 1 }), [[], [7], [6], [5], [1]])
      assert.deepEqual(await pagesOf({ path: '/none' }), [[], [], [], []])
      assert.deepEqual(await pagesOf({ kind: 'preview', until: BORN + 3 }), [[]])
      assert.deepEqual(await pagesOf({ deployment_id: 'none', since: BORN + 8 }), [[], []])
    },
  },
  {
    name: 'observations: the tail shows lines in the order in which they were added, old ones too',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertObserved(store, 'app_1', 'app_2')
      const tail = async (after: number | null, limit: number) =>
        (await store.observations.tail({ ...TAIL, after, limit })).map((line) => line.at - BORN)
      assert.deepEqual(await tail(null, 9), [])
      await addLines(store, sampleLine(4), sampleLine(5), sampleLine(5, { app_id: 'app_2' }))
      await addLines(racers[1], sampleLine(3), sampleLine(6))
      assert.deepEqual(await tail(null, 3), [5, 3, 6])
      const [first] = await store.observations.tail({ ...TAIL, limit: 9 })
      assert.equal(first?.at, BORN + 4)
      assert.deepEqual(await tail(first.position, 2), [5, 3])
      await Promise.all(
        Array.from({ length: 20 }, (_, turn) =>
          addLines(racers[turn % 2 === 0 ? 0 : 1], sampleLine(10 + turn)),
        ),
      )
      const all = await store.observations.tail({ ...TAIL, after: first.position })
      assert.equal(new Set(all.map(({ id }) => id)).size, 23)
      assert.equal(await store.purge('access_lines', BORN + 99, 100), 25)
      await addLines(store, sampleLine(1))
      const last = all.at(-1)?.position ?? Infinity
      assert.deepEqual(await tail(last, 9), [1], 'a position is never given again')
    },
  },
  {
    name: 'observations: the tail of one kind passes over the lines of the other',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1', 'app_2')
      const made = [1, 2, 3, 4, 5, 6, 7, 8]
      const kindOf = (mark: number) => (mark % 4 === 0 ? 'preview' : 'published')
      await addLines(store, ...made.map((mark) => sampleLine(mark, { kind: kindOf(mark) })))
      await addLines(store, sampleLine(9, { kind: 'preview', app_id: 'app_2' }))
      const lines = await store.observations.tail(TAIL)
      assert.ok(lines.every(({ position }) => position > 0))
      const tail = async (asked: Partial<TailQuery>) =>
        (await store.observations.tail({ ...TAIL, ...asked })).map(({ at }) => at - BORN)
      const placeOf = (mark: number) => lines[mark - 1]?.position ?? assert.fail()
      assert.deepEqual(await tail({}), made)
      assert.deepEqual(await tail({ limit: 3 }), [6, 7, 8])
      assert.deepEqual(await tail({ kind: 'preview', limit: 1 }), [8])
      assert.deepEqual(await tail({ kind: 'published', limit: 2 }), [6, 7])
      assert.deepEqual(await tail({ after: 0, limit: 5 }), [1, 2, 3, 4, 5])
      assert.deepEqual(await tail({ kind: 'preview', after: 0 }), [4, 8])
      assert.deepEqual(await tail({ kind: 'preview', after: placeOf(4) }), [8])
      assert.deepEqual(await tail({ kind: 'preview', after: placeOf(8) }), [])
      assert.deepEqual(await tail({ kind: 'published', after: placeOf(3), limit: 2 }), [5, 6])
    },
  },
  {
    name: 'observations: how many of the latest requests failed',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1')
      const statuses = [500, 200, 404, 503, 200]
      await addLines(store, ...statuses.map((status, index) => sampleLine(index, { status })))
      await addLines(store, sampleLine(9, { status: 500, kind: 'preview' }))
      const rate = (since: number, most: number) =>
        store.observations.rate('app_1', 'published', BORN + since, most)
      assert.deepEqual(await rate(0, 99), { requests: 5, errors: 2 })
      assert.deepEqual(await rate(1, 99), { requests: 4, errors: 1 })
      assert.deepEqual(await rate(0, 1), { requests: 1, errors: 0 })
      assert.deepEqual(await rate(6, 99), { requests: 0, errors: 0 })
    },
  },
]

const usageCases: readonly PlatformCase[] = [
  {
    name: 'observations: counters add up by app, day, kind and meter, whoever adds',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertObserved(store, 'app_1', 'app_2')
      const addition = [
        sampleUsage(2),
        sampleUsage(3),
        sampleUsage(9_007_199, { meter: 'egress_bytes' }),
        sampleUsage(1, { kind: 'preview' }),
        sampleUsage(1, { day: '2026-02-01' }),
        sampleUsage(7, { app_id: 'app_2' }),
        sampleUsage(7, { app_id: 'app_9' }),
      ]
      const add = (turn: number) =>
        racers[turn % 2 === 0 ? 0 : 1].write((tx) =>
          tx.observations.addUsage(addition, BORN + 10 - turn),
        )
      await Promise.all(Array.from({ length: 10 }, (_, turn) => add(turn)))
      const as_of = BORN + 10
      const ofDay = { day: '2026-01-31', as_of }
      assert.deepEqual(await store.observations.usage('app_1', '2026-01-01', '2026-02-01'), [
        { ...ofDay, kind: 'preview', meter: 'requests', total: 10 },
        { ...ofDay, kind: 'published', meter: 'egress_bytes', total: 90_071_990 },
        { ...ofDay, kind: 'published', meter: 'requests', total: 50 },
      ])
      assert.deepEqual(await store.observations.usage('app_1', '2026-02-01', '2026-03-01'), [
        { day: '2026-02-01', as_of, kind: 'published', meter: 'requests', total: 10 },
      ])
      assert.deepEqual(await store.observations.usage('app_9', '2026-01-01', '2026-03-01'), [])
    },
  },
  {
    name: 'observations: a batch that is written again is known, and one that rolled back is not',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertObserved(store, 'app_1')
      const write = (one: PlatformStore, source: string, number: number, fails = false) =>
        one.write(async (tx) => {
          const isNew = await tx.observations.beginBatch(source, number, BORN)
          if (isNew) await tx.observations.addUsage([sampleUsage(1)], BORN)
          if (fails) throw new Error('no')
          return isNew
        })
      await assert.rejects(write(store, 'a', 1, true), /no/)
      assertOneWon(await Promise.all(racers.map((one) => write(one, 'a', 1))))
      assert.equal(await write(store, 'a', 1), false)
      assert.equal(await write(store, 'b', 1), true)
      assert.equal(await write(store, 'a', 3), true)
      assert.equal(await write(store, 'a', 2), false)
      const [usage] = await store.observations.usage('app_1', '2026-01-01', '2026-02-01')
      assert.equal(usage?.total, 3)
      assert.equal(await store.purge('observers', BORN + 1, 9), 2)
    },
  },
]

const endCases: readonly PlatformCase[] = [
  {
    name: 'observations: lines and problems go by their age, no more than the limit at a time',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1')
      await addLines(store, sampleLine(1), sampleLine(2), sampleLine(3), sampleLine(9))
      const seenLate = sampleTold('late', 1, { last_seen: BORN + 8 })
      await tell(store, sampleTold('old', 2), seenLate)
      assert.equal(await store.purge('access_lines', BORN + 3, 1), 1)
      assert.equal(await store.purge('access_lines', BORN + 3, 9), 1)
      assert.equal(await store.purge('access_lines', BORN + 3, 9), 0)
      const { rows } = await store.observations.lines(ALL_LINES)
      assert.deepEqual(rows, [sampleLine(9), sampleLine(3)])
      assert.equal(await store.purge('problems', BORN + 8, 9), 1)
      const left = await store.observations.errorGroups(ALL_ERROR_GROUPS)
      assert.deepEqual(left.rows, [openedBy(seenLate)])
    },
  },
  {
    name: 'observations: lines of a clock that was ahead go once a line that was added later is old',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1')
      const ahead = [1, 2, 3].map((after) => sampleLine(2 ** 40 + after))
      await addLines(store, ...ahead)
      assert.equal(await store.purge('access_lines', BORN + 5, 2), 0)
      for (const after of [3, 4, 8]) await addLines(store, sampleLine(after))
      assert.equal(await store.purge('access_lines', BORN + 3, 2), 0, 'nothing is old')
      const gone: number[] = []
      for (let turn = 0; turn < 4; turn++) {
        gone.push(await store.purge('access_lines', BORN + 5, 2))
      }
      assert.deepEqual(gone, [2, 2, 1, 0])
      const { rows } = await store.observations.lines(ALL_LINES)
      assert.deepEqual(rows, [sampleLine(8)])
    },
  },
  {
    name: 'observations: a purged app leaves nothing of them, and others keep theirs',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_2')
      await store.write(async (tx) => {
        await tx.apps.insert(sampleApp('app_1', { archived_at: BORN, purge_at: BORN + 9 }))
        for (const app_id of ['app_1', 'app_2']) {
          await tx.observations.addLines([sampleLine(1, { app_id })])
          await tx.observations.addUsage([sampleUsage(1, { app_id })], BORN)
          await tx.observations.recordErrors([
            sampleTold('one', 1, { app_id, id: idAt(BORN, Number(app_id.at(-1))) }),
          ])
          await tx.observations.addChecks([sampleCheck(1, { app_id })])
        }
      })
      const left = async (app_id: string): Promise<readonly number[]> => {
        const { observations } = store
        return [
          (await observations.lines({ ...ALL_LINES, app_id })).rows.length,
          (await observations.usage(app_id, '2026-01-01', '2026-02-01')).length,
          (await observations.errorGroups({ ...ALL_ERROR_GROUPS, app_id })).rows.length,
          (await observations.checks(app_id, 9)).length,
        ]
      }
      assert.deepEqual(await left('app_1'), [1, 1, 1, 1])
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 9)), true)
      assert.deepEqual(await left('app_1'), [0, 0, 0, 0])
      assert.deepEqual(await left('app_2'), [1, 1, 1, 1])
    },
  },
]

/** What is observed of apps: requests to them, and what is counted of these. */
export const observationCases: readonly PlatformCase[] = [...lineCases, ...usageCases, ...endCases]

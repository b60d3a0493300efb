import assert from 'node:assert/strict'
import type { JobWrites } from '../../plugins/platform/contract/jobs.ts'
import { JOB_KINDS } from '../../plugins/platform/contract/jobs.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'
import { DEADLINE, LEASE, claimJob, enqueueJobs, sampleClaim, sampleJob } from './job-samples.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import { ACCOUNT, BORN, STRANGER } from '../../plugins/store/conformance/samples.ts'

const PROGRESS = { stage: 'chunk', done: 3, total: 7 }

const on = <T>(store: PlatformStore, work: (jobs: JobWrites) => Promise<T>): Promise<T> =>
  store.write((tx) => work(tx.jobs))
const beat = (store: PlatformStore, claim: string, now: number) =>
  on(store, (jobs) => jobs.heartbeat('job_1', claim, { lease_until: now + LEASE, ...PROGRESS }))
const complete = (store: PlatformStore, claim: string, id = 'job_1') =>
  on(store, (jobs) => jobs.complete(id, claim))
const cancel = (store: PlatformStore, now: number) => on(store, (jobs) => jobs.cancel('job_1', now))
const release = (store: PlatformStore, claim: string, until: number, counted = false) =>
  on(store, (jobs) => jobs.release('job_1', claim, { until, counted }))

async function claimAll(
  store: PlatformStore,
  now: number,
  ...claims: readonly string[]
): Promise<readonly (string | undefined)[]> {
  const ids: (string | undefined)[] = []
  for (const claim of claims) ids.push((await claimJob(store, claim, now))?.id)
  return ids
}

const claimCases: readonly PlatformCase[] = [
  {
    name: 'jobs: a claim leases the oldest of a kind, as it was enqueued, and none twice',
    async run({ open }) {
      const store = await open()
      assert.equal(await claimJob(store, 'none', BORN), undefined)
      await enqueueJobs(
        store,
        sampleJob('job_2'),
        sampleJob('job_0', { kind: 'domain_check', run_at: BORN }),
        sampleJob('job_1', { app_id: 'app_2' }),
      )
      assert.equal(await store.jobs.isClaimable('file', BORN), true)
      assert.deepEqual(await claimJob(store, 'a', BORN), {
        id: 'job_1',
        kind: 'file',
        app_id: 'app_2',
        account_id: ACCOUNT,
        claim: 'a',
        attempts: 1,
        deadline_at: BORN + DEADLINE,
        cancel_at: null,
      })
      assert.deepEqual(await claimAll(store, BORN, 'b', 'c'), ['job_2', undefined])
      assert.equal(await store.jobs.isClaimable('file', BORN), false)
      assert.equal(await store.jobs.isClaimable('domain_check', BORN), true)
    },
  },
  {
    name: 'jobs: what is enqueued twice is one job',
    async run({ open }) {
      const store = await open()
      await enqueueJobs(store, sampleJob('job_1'))
      await claimJob(store, 'a', BORN)
      await enqueueJobs(store, sampleJob('job_1'))
      assert.equal(await claimJob(store, 'b', BORN), undefined)
      assert.equal(await complete(store, 'a'), true)
      assert.equal(await claimJob(store, 'b', BORN), undefined)
    },
  },
  {
    name: 'jobs: accounts that wait have their turns, however much one of them has queued',
    async run({ open }) {
      const store = await open()
      const many = Array.from({ length: 12 }, (_, at) => sampleJob(`job_${10 + at}`))
      const late = [1, 2, 3].map((at) =>
        sampleJob(`job_${50 + at}`, { account_id: `late_${at}`, app_id: 'app_2' }),
      )
      await enqueueJobs(store, ...many, ...late)
      assert.deepEqual(await claimAll(store, BORN, 'a', 'b', 'c', 'd', 'e', 'f'), [
        'job_10',
        'job_51',
        'job_52',
        'job_53',
        'job_11',
        'job_12',
      ])
      // What ended without being completed is run again, before what came after it.
      assert.deepEqual(await claimAll(store, BORN + LEASE, 'again'), ['job_10'])
    },
  },
  {
    name: 'jobs: what an account has running counts no longer than its leases, those of a clock ahead of ours neither',
    async run({ open }) {
      const store = await open()
      const ahead = BORN + 2 ** 40
      await enqueueJobs(store, sampleJob('job_1'))
      await claimJob(store, 'a', BORN)
      await enqueueJobs(store, sampleJob('job_2', { account_id: STRANGER }))
      assert.deepEqual(await claimAll(store, BORN + LEASE, 'b'), ['job_1'])
      assert.equal(await beat(store, 'b', ahead), 'held')
      await enqueueJobs(store, sampleJob('job_0'), sampleJob('job_3', { account_id: STRANGER }))
      const later = BORN + LEASE + 1
      assert.deepEqual(await claimAll(store, later, 'c', 'd', 'e', 'f'), [
        'job_0',
        'job_2',
        'job_1',
        'job_3',
      ])
    },
  },
  {
    name: 'jobs: of one queue the oldest runs, and the next once it has ended',
    async run({ open }) {
      const store = await open()
      const queue = 'edits of app_1'
      await enqueueJobs(
        store,
        sampleJob('job_2', { queue }),
        sampleJob('job_1', { queue }),
        sampleJob('job_3', { queue: 'edits of app_2' }),
        sampleJob('job_4'),
      )
      assert.deepEqual(await claimAll(store, BORN, 'a', 'b', 'c', 'd'), [
        'job_1',
        'job_3',
        'job_4',
        undefined,
      ])
      assert.equal(await store.jobs.isClaimable('file', BORN), false)
      assert.equal(await beat(store, 'a', BORN + LEASE), 'held')
      assert.equal(await complete(store, 'b', 'job_3'), true)
      assert.equal(await complete(store, 'c', 'job_4'), true)
      assert.deepEqual(await claimAll(store, BORN + LEASE, 'e'), [undefined])
      assert.deepEqual(await claimAll(store, BORN + 2 * LEASE, 'f', 'g'), ['job_1', undefined])
      assert.equal(await complete(store, 'f'), true)
      assert.deepEqual(await claimAll(store, BORN + 2 * LEASE, 'h'), ['job_2'])
    },
  },
  {
    name: 'jobs: of concurrent claims each gets another, and no queue ever has two running',
    async run(harness) {
      const racers = await openRacers(harness)
      const waiting = ['one', 'two', 'three'].flatMap((queue) =>
        [1, 2, 3].map((number) => sampleJob(`job_${number}_${queue}`, { queue })),
      )
      await enqueueJobs(racers[0], ...waiting)
      const claimed = await Promise.all(
        Array.from({ length: 8 }, (_, turn) =>
          claimJob(racers[turn % 2 === 0 ? 0 : 1], `${turn}`, BORN),
        ),
      )
      const ids = claimed.flatMap((one) => (one === undefined ? [] : [one.id]))
      assert.deepEqual(ids.sort(), ['job_1_one', 'job_1_three', 'job_1_two'])
    },
  },
  {
    name: 'jobs: a claim that rolls back was none',
    async run({ open }) {
      const store = await open()
      await enqueueJobs(store, sampleJob('job_1'))
      const failed = on(store, async (jobs) => {
        await jobs.claim('file', sampleClaim('a', BORN))
        throw new Error('no')
      })
      await assert.rejects(failed, /no/)
      assert.equal(await complete(store, 'a'), false)
      assert.equal((await claimJob(store, 'b', BORN))?.attempts, 1)
    },
  },
  {
    name: 'jobs: one whose lease has ended goes to another, with its first deadline',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await enqueueJobs(store, sampleJob('job_1'))
      const first = await claimJob(store, 'a', BORN)
      assert.equal(await beat(store, 'a', BORN), 'held')
      assert.equal(await cancel(store, BORN + 1), true)
      assert.equal(await store.jobs.isClaimable('file', BORN + LEASE - 1), false)
      assert.equal(await claimJob(store, 'b', BORN + LEASE - 1), undefined)
      assert.equal(await store.jobs.isClaimable('file', BORN + LEASE), true)
      const taken = await Promise.all(racers.map((one) => claimJob(one, 'b', BORN + LEASE)))
      assertOneWon(taken.map((one) => one !== undefined))
      const second = { ...first, claim: 'b', attempts: 2, cancel_at: BORN + 1 }
      assert.deepEqual(
        taken.find((one) => one !== undefined),
        second,
      )
      assert.equal(await beat(store, 'a', BORN + LEASE), 'lost')
      assert.equal(await complete(store, 'a'), false)
      assert.equal(await release(store, 'a', BORN), false)
      assert.equal(await on(store, (jobs) => jobs.reschedule('job_1', 'a', BORN)), false)
      assert.equal(await beat(store, 'b', BORN + LEASE), 'cancel')
    },
  },
  {
    name: 'jobs: one is claimed by its id, due or not, unless it is leased',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      const claimOne = (at: PlatformStore, claim: string, now: number) =>
        on(at, (jobs) => jobs.claimOne('domain_check', 'job_1', sampleClaim(claim, now)))
      assert.equal(await claimOne(store, 'a', BORN), undefined)
      await enqueueJobs(
        store,
        sampleJob('job_1', { kind: 'domain_check', run_at: BORN + DEADLINE }),
      )
      const won = await Promise.all(racers.map((one, at) => claimOne(one, `${at}`, BORN)))
      assertOneWon(won.map((one) => one !== undefined))
      assert.equal(await claimOne(store, 'b', BORN + LEASE - 1), undefined)
      assert.equal((await claimOne(store, 'b', BORN + LEASE))?.attempts, 2)
      const file = on(store, (jobs) => jobs.claimOne('file', 'job_1', sampleClaim('c', DEADLINE)))
      assert.equal(await file, undefined, 'of another kind')
    },
  },
]

const dueCases: readonly PlatformCase[] = [
  {
    name: 'jobs: of a kind with a schedule the one that has been due longest comes first, and none before it is due',
    async run({ open }) {
      const store = await open()
      const due = (id: string, run_at: number) => sampleJob(id, { kind: 'domain_check', run_at })
      await enqueueJobs(store, due('job_1', BORN + 9), due('job_2', BORN + 5), due('job_3', BORN))
      const next = async (claim: string, now: number) =>
        (await claimJob(store, claim, now, 'domain_check'))?.id
      assert.equal(await store.jobs.isClaimable('domain_check', BORN - 1), false)
      assert.equal(await next('a', BORN + 5), 'job_3')
      assert.equal(await next('b', BORN + 5), 'job_2')
      assert.equal(await next('c', BORN + 5), undefined)
      const reschedule = (claim: string) =>
        on(store, (jobs) => jobs.reschedule('job_3', claim, BORN + 7))
      assert.equal(await reschedule('b'), false)
      assert.equal(await reschedule('a'), true)
      assert.equal(await reschedule('a'), false)
      assert.equal(await next('d', BORN + 6), undefined)
      const again = await claimJob(store, 'd', BORN + 9, 'domain_check')
      assert.deepEqual([again?.id, again?.attempts], ['job_3', 1])
      assert.equal(await next('e', BORN + 9), 'job_1')
    },
  },
  {
    name: 'jobs: an instant that a clock ahead of ours gave holds nobody up',
    async run({ open }) {
      const store = await open()
      const { furthest, longestLease } = JOB_KINDS.domain_check
      const due = (id: string, run_at: number) => sampleJob(id, { kind: 'domain_check', run_at })
      const claimable = () => store.jobs.isClaimable('domain_check', BORN)
      await enqueueJobs(store, due('job_1', BORN + furthest))
      assert.equal(await claimable(), false)
      await enqueueJobs(store, due('job_2', BORN + furthest + 1))
      assert.equal(await claimable(), true)
      assert.equal((await claimJob(store, 'a', BORN, 'domain_check'))?.id, 'job_2')
      const extend = (lease_until: number) =>
        on(store, (jobs) => jobs.heartbeat('job_2', 'a', { lease_until, ...PROGRESS }))
      assert.equal(await extend(BORN + longestLease), 'held')
      assert.equal(await claimable(), false)
      assert.equal(await extend(BORN + longestLease + 1), 'held')
      assert.equal(await claimable(), true)
      assert.equal((await claimJob(store, 'b', BORN, 'domain_check'))?.id, 'job_2')
    },
  },
]

const heldCases: readonly PlatformCase[] = [
  {
    name: 'jobs: a heartbeat extends the lease; one that is lost changes nothing',
    async run({ open }) {
      const store = await open()
      await enqueueJobs(store, sampleJob('job_1'))
      assert.equal(await beat(store, 'a', BORN), 'lost')
      await claimJob(store, 'a', BORN)
      assert.equal(await beat(store, 'a', BORN + 40_000), 'held')
      assert.equal(await store.jobs.isClaimable('file', BORN + 40_000 + LEASE - 1), false)
      // Nobody took it over: it is still held.
      assert.equal(await beat(store, 'a', BORN + 400_000), 'held')
      assert.equal(await beat(store, 'b', BORN + 900_000), 'lost')
      assert.equal(await store.jobs.isClaimable('file', BORN + 400_000 + LEASE), true)
    },
  },
  {
    name: 'jobs: one that is released may be claimed from then on, and its attempt counts as it is said',
    async run({ open }) {
      const store = await open()
      await enqueueJobs(store, sampleJob('job_1'))
      await claimJob(store, 'a', BORN)
      assert.equal(await release(store, 'b', BORN + 5), false)
      assert.equal(await release(store, 'a', BORN + 5), true)
      const again = await claimJob(store, 'b', BORN + 5)
      assert.deepEqual([again?.attempts, again?.deadline_at], [1, BORN + DEADLINE])
      assert.equal(await release(store, 'a', BORN + 6), false)
      assert.equal(await release(store, 'b', BORN + 9, true), true)
      assert.equal(await claimJob(store, 'c', BORN + 8), undefined)
      assert.equal((await claimJob(store, 'c', BORN + 9))?.attempts, 2)
    },
  },
  {
    name: 'jobs: a running one can be asked to stop, once; one that waits or ended cannot',
    async run({ open }) {
      const store = await open()
      await enqueueJobs(store, sampleJob('job_1'))
      assert.equal(await cancel(store, BORN), false)
      await claimJob(store, 'a', BORN)
      assert.equal(await cancel(store, BORN + 1), true)
      assert.equal(await cancel(store, BORN + 2), true)
      assert.equal(await beat(store, 'a', BORN + 3), 'cancel')
      assert.equal((await claimJob(store, 'b', BORN + 9 * LEASE))?.cancel_at, BORN + 1)
      assert.equal(await complete(store, 'b'), true)
      assert.equal(await cancel(store, BORN + 4), false)
    },
  },
  {
    name: 'jobs: of an end and a take-over of the same job one happens',
    async run(harness) {
      const racers = await openRacers(harness)
      await enqueueJobs(racers[0], sampleJob('job_1'))
      await claimJob(racers[0], 'a', BORN)
      const [ended, taken] = await Promise.all([
        complete(racers[0], 'a'),
        claimJob(racers[1], 'b', BORN + LEASE),
      ])
      assertOneWon([ended, taken !== undefined])
      assert.equal(await racers[0].jobs.isClaimable('file', BORN + 9 * LEASE), !ended)
    },
  },
  {
    name: 'jobs: of racers to complete one, one does; of a claim and a removal from the queue one happens',
    async run(harness) {
      const racers = await openRacers(harness)
      const [one, other] = racers
      await enqueueJobs(one, sampleJob('job_1'), sampleJob('job_2'))
      await claimJob(one, 'a', BORN)
      const dequeue = (store: PlatformStore, id: string) => on(store, (jobs) => jobs.dequeue(id))
      assert.equal(await dequeue(one, 'job_1'), false, 'it runs')
      assertOneWon(await Promise.all(racers.map((store) => complete(store, 'a'))))
      const [claimed, removed] = await Promise.all([
        claimJob(one, 'b', BORN),
        dequeue(other, 'job_2'),
      ])
      assertOneWon([claimed !== undefined, removed])
      assert.equal(await dequeue(one, 'job_2'), false)
    },
  },
]

const logCases: readonly PlatformCase[] = [
  {
    name: 'jobs: lines are numbered without a gap, whoever adds them, and outlive their job',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await enqueueJobs(store, sampleJob('job_1'))
      await claimJob(store, 'a', BORN)
      const log = (at: PlatformStore, ...messages: readonly string[]) =>
        on(at, (jobs) =>
          jobs.log(
            'job_1',
            messages.map((message) => ({ at: BORN, stage: 'chunk', message })),
          ),
        )
      await log(store)
      assert.deepEqual(await store.jobs.lines('job_1', 0, 9), [])
      await Promise.all(racers.map((one, at) => log(one, `${at} a`, `${at} b`)))
      await on(store, (jobs) =>
        jobs.log('job_1', [{ at: BORN + 1, stage: null, message: 'Ä “q”' }]),
      )
      await complete(store, 'a')
      const lines = await store.jobs.lines('job_1', 0, 9)
      assert.deepEqual(
        lines.map(({ number }) => number),
        [1, 2, 3, 4, 5],
      )
      assert.deepEqual(lines[4], { number: 5, at: BORN + 1, stage: null, message: 'Ä “q”' })
      assert.deepEqual(await store.jobs.lines('job_1', 4, 9), lines.slice(4))
      assert.deepEqual(await store.jobs.lines('job_1', 1, 2), lines.slice(1, 3))
      assert.deepEqual(await store.jobs.lines('job_2', 0, 9), [])
    },
  },
]

/** Jobs: each transition, and who wins where two happen at once. */
export const jobCases: readonly PlatformCase[] = [
  ...claimCases,
  ...dueCases,
  ...heldCases,
  ...logCases,
]

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { JobKindName } from '../../plugins/platform/contract/jobs.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { PLATFORM_MIGRATIONS } from '../../plugins/platform/nouns.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import { openStore } from '../../plugins/store/open.ts'
import { openAny } from '../../plugins/store/opening.ts'
import type { SqlClient } from '../../plugins/store/sql/client.ts'
import { stepsOf } from '../../plugins/store/sql/migrate.ts'
import { ROOT } from '../arch/source.ts'
import { startPostgres } from '../support/postgres.ts'
import { FIRST, SECOND, THIRD } from './deployment-samples.ts'
import { sampleEditEnd } from './edit-samples.ts'
import { PROCESSED } from './file-samples.ts'
import { sampleClaim } from './job-samples.ts'
import { disagreements } from './job-subjects.ts'

/**
 * Rows as the version before jobs kept them, recorded from it: work of each kind in every state in which a
 * daemon could leave it when it was stopped or killed.
 */
const BEFORE_JOBS = JSON.parse(
  readFileSync(join(ROOT, 'test/platform/before-jobs.json'), 'utf8'),
) as Readonly<Record<string, RecordedTable>>

interface RecordedTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

const PREFIX = { tablePrefix: '' }
/** After every lease that the rows speak of. */
const LATER = BORN + 200_000

const FIRST_OF_JOBS = PLATFORM_MIGRATIONS.findIndex(({ name }) => name.startsWith('jobs/'))

/** A database as the version before jobs left it. */
async function makeOld(place: string): Promise<void> {
  const before = PLATFORM_MIGRATIONS.slice(0, FIRST_OF_JOBS)
  const steps = stepsOf(before, namePlatformTables(''))
  const { client, store } = await openAny(place, PREFIX, { steps, encrypted: {} })
  await client.transaction(async (query) => {
    for (const [table, { columns, rows }] of Object.entries(BEFORE_JOBS)) {
      const places = columns.map((_, at) => `$${at + 1}`).join(', ')
      const given = columns.join(', ')
      for (const row of rows) {
        await query(`INSERT INTO ${table} (${given}) VALUES (${places})`, row)
      }
    }
  })
  await store.close()
}

/** Claims everything of a kind that can be claimed, in the order in which it comes. */
async function claimAll(store: PlatformStore, kind: JobKindName, now: number) {
  const claimed: string[] = []
  for (;;) {
    const claim = `new ${claimed.length}`
    const job = await store.write((tx) => tx.jobs.claim(kind, sampleClaim(claim, now)))
    if (job === undefined) return claimed
    claimed.push(`${job.id} ${job.attempts} ${job.deadline_at}`)
  }
}

const FILES: Readonly<Record<string, (t: Test, store: PlatformStore) => Promise<void>>> = {
  async 'what is shown of files stays'(t, store) {
    const { rows } = await store.files.list({
      app_id: 'app_1',
      status: null,
      content_type: null,
      limit: 9,
      after: null,
    })
    t.same(
      rows.map(({ id, status, stage, done, total, attempts }) => [
        id,
        status,
        stage,
        done,
        total,
        attempts,
      ]),
      [
        ['file_06', 'queued', null, 0, null, 0],
        ['file_05', 'queued', null, 0, null, 0],
        ['file_04', 'failed', null, 0, null, 1],
        ['file_03', 'processed', null, 0, null, 1],
        ['file_01', 'processing', 'chunk', 2, 9, 1],
      ],
    )
    t.match(await store.files.get('app_3', 'file_02'), { status: 'processing', attempts: 0 })
  },
  async 'a file whose lease holds is left to its claim, which may still end it'(t, store) {
    // The one that was given back is free at once; the one that is leased is not.
    t.same(await claimAll(store, 'file', BORN + 10), [
      `file_02 1 ${BORN + 900_000}`,
      `file_05 1 ${BORN + 900_010}`,
      `file_06 1 ${BORN + 900_010}`,
    ])
    const finish = (id: string, claim: string) =>
      store.write((tx) => tx.files.finish(id, claim, BORN + 20, PROCESSED))
    t.equal(await finish('file_02', 'claim of file_02'), false)
    t.equal(await finish('file_01', 'claim of file_01'), true)
    t.equal(await finish('file_01', 'claim of file_01'), false)
    t.match(await store.files.get('app_1', 'file_01'), { status: 'processed', attempts: 1 })
  },
  async 'a file whose lease has ended is taken over once'(t, store) {
    t.same(await claimAll(store, 'file', LATER), [
      `file_01 2 ${BORN + 900_000}`,
      `file_02 1 ${BORN + 900_000}`,
      `file_05 1 ${LATER + 900_000}`,
      `file_06 1 ${LATER + 900_000}`,
    ])
  },
  async 'domains are checked when they were to be, and one that was asked for is'(t, store) {
    const claim = () => claimAll(store, 'domain_check', BORN + 60_001)
    t.same(
      (await claim()).map((one) => one.split(' ')[0]),
      ['dom_02'],
    )
    t.same(
      (await claimAll(store, 'domain_check', LATER)).map((one) => one.split(' ')[0]),
      // The first has no schedule, and was being checked because somebody asked.
      ['dom_05', 'dom_01', 'dom_02'],
    )
    t.match(await store.domains.get('app_1', 'dom_03'), {
      status: 'verified',
      next_check_at: BORN + 86_400_000,
    })
    t.equal(await store.jobs.isClaimable('domain_check', BORN + 86_400_000), true)
  },
}

const EDITS: typeof FILES = {
  async 'what is shown of edits stays, and their lines'(t, store) {
    const { rows } = await store.edits.list({
      app_id: 'app_1',
      status: null,
      kind: null,
      initial: null,
      limit: 9,
      after: null,
    })
    t.same(
      rows.map(({ id, status, stage, done, total, started_at }) => [
        id,
        status,
        stage,
        done,
        total,
        started_at,
      ]),
      [
        ['edit_02', 'queued', null, 0, null, null],
        ['edit_01', 'running', 'asking', 3, 7, BORN],
      ],
    )
    t.same(
      (await store.jobs.lines('edit_01', 0, 9)).map(({ number, message }) => [number, message]),
      [
        [1, 'Reading the files.'],
        [2, 'Asking the language model.'],
      ],
    )
    t.equal((await store.jobs.lines('edit_05', 0, 9)).length, 1)
    await store.write((tx) =>
      tx.jobs.log('edit_01', [{ at: BORN, stage: null, message: 'goes on' }]),
    )
    t.equal((await store.jobs.lines('edit_01', 0, 9)).at(-1)?.number, 3)
  },
  async 'an edit whose lease holds keeps its app to itself'(t, store) {
    t.same(await claimAll(store, 'edit', BORN + 10), [
      `edit_04 1 ${BORN + 900_000}`,
      `edit_06 1 ${BORN + 900_010}`,
    ])
    t.equal(await store.jobs.hold('edit_01', 'claim of edit_01'), 'held')
    t.equal(await store.jobs.hold('edit_03', 'claim of edit_03'), 'cancel')
    t.equal(await store.jobs.hold('edit_04', 'claim of edit_04'), 'lost')
    const finish = () =>
      store.write((tx) => tx.edits.finish('edit_01', 'claim of edit_01', sampleEditEnd()))
    t.equal(await finish(), true)
    t.equal(await finish(), false)
    t.same(await claimAll(store, 'edit', BORN + 10), [`edit_02 1 ${BORN + 900_010}`])
  },
  async 'an edit whose lease has ended is taken over once, asked to stop if it was'(t, store) {
    t.same(await claimAll(store, 'edit', LATER), [
      `edit_01 2 ${BORN + 900_000}`,
      `edit_04 1 ${BORN + 900_000}`,
      `edit_03 2 ${BORN + 900_000}`,
      `edit_06 1 ${LATER + 900_000}`,
    ])
    t.equal(await store.jobs.hold('edit_03', 'new 2'), 'cancel')
  },
}

const DEPLOYMENTS: typeof FILES = {
  async 'what is shown of deployments stays, and their lines'(t, store) {
    const shown = async (app: string, id: string) => {
      const { status, step, done, total, cancel_at, artifact, announced } =
        (await store.deployments.get(app, id)) ?? {}
      return [status, step, done, total, cancel_at, artifact, announced]
    }
    t.same(await shown('app_1', 'dep_02'), ['live', null, 0, null, null, SECOND, true])
    t.same(await shown('app_1', 'dep_03'), ['deploying', 'activating', 1, 2, null, THIRD, false])
    t.same(await shown('app_2', 'dep_04'), ['live', null, 0, null, null, FIRST, false])
    t.same(await shown('app_3', 'dep_05'), ['building', null, 0, null, BORN + 500, null, false])
    t.same(await shown('app_4', 'dep_06'), ['failed', null, 0, null, null, null, false])
    t.same(await shown('app_6', 'dep_08'), ['queued', null, 0, null, null, null, false])
    const [line] = await store.jobs.lines('dep_03', 0, 9)
    t.match(line, { number: 1, stage: 'building', message: 'Making the release.' })
    t.equal((await store.jobs.lines('dep_01', 0, 9)).length, 1)
  },
  async 'a deployment whose lease holds is switched to by its claim alone'(t, store) {
    t.same(await claimAll(store, 'deployment', BORN + 10), [
      `dep_07 1 ${BORN + 2 + 600_000}`,
      `dep_08 1 ${BORN + 10 + 900_000}`,
    ])
    const move = (claim: string) =>
      store.write((tx) => tx.deployments.switch('dep_03', claim, BORN + 20))
    t.equal(await move('another'), undefined)
    t.match(await move('claim of dep_03'), { status: 'live', previous_deployment_id: 'dep_02' })
    t.equal(await store.write((tx) => tx.deployments.announce('dep_03')), true)
    t.match(await store.deployments.live('app_1'), { id: 'dep_03' })
  },
  async 'what is live and untold of is told of once, by whoever takes it over'(t, store) {
    t.same(
      (await claimAll(store, 'deployment', LATER)).map((one) => one.split(' ')[0]),
      ['dep_03', 'dep_07', 'dep_04', 'dep_05', 'dep_08'],
    )
    t.equal(await store.jobs.hold('dep_05', 'new 3'), 'cancel')
    const announce = () => store.write((tx) => tx.deployments.announce('dep_04'))
    t.equal(await announce(), true)
    t.equal(await announce(), false)
    t.equal(await store.jobs.hold('dep_04', 'new 2'), 'lost')
  },
}

const CASES = { ...FILES, ...EDITS, ...DEPLOYMENTS }

async function upgrade(t: Test, makePlace: () => Promise<string>): Promise<void> {
  for (const [name, run] of Object.entries(CASES)) {
    await t.test(name, async (t) => {
      const place = await makePlace()
      await makeOld(place)
      const { store, client, migrated } = await openPlatformStore(place, PREFIX)
      t.teardown(() => store.close())
      const steps = PLATFORM_MIGRATIONS.slice(FIRST_OF_JOBS)
      t.same(
        migrated,
        steps.map(({ name }) => name),
      )
      t.same(await disagreements(client), [], 'every subject that is open has a job, no other has')
      await run(t, store)
      t.same(await disagreements(client), [])
    })
  }
}

await t.test('SQLite: a database of the version before goes on where it stood', async (t) => {
  const folder = t.testdir()
  let files = 0
  await upgrade(t, async () => join(folder, `${files++}.sqlite`))
})

await t.test('PostgreSQL: a database of the version before goes on where it stood', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  await upgrade(t, () => server.createDatabase())

  await t.test('and only once no daemon of that version serves it', async (t) => {
    const url = await server.createDatabase()
    await makeOld(url)
    const older = await openStore(url, PREFIX)
    const tables = async (client: SqlClient): Promise<number> =>
      (await client.read(`SELECT 1 FROM information_schema.tables WHERE table_name = 'jobs'`))
        .length
    await t.rejects(openPlatformStore(url, PREFIX), { message: /older version.*stop all of them/ })
    t.equal(await tables(older.client), 0, 'nothing was changed')
    await older.store.close()
    const { store, client, migrated } = await openPlatformStore(url, PREFIX)
    t.ok(migrated.length > 0)
    t.equal(await tables(client), 1)
    const beside = await openPlatformStore(url, PREFIX)
    t.same(beside.migrated, [], 'of this version several serve it')
    await beside.store.close()
    await store.close()
  })
})

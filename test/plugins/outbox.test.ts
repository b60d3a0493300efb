import { renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { PublishRows } from '../../plugins/outbox/contract.ts'
import { OUTBOX_SQL } from '../../plugins/outbox/contract/table.ts'
import { openPostgresOutbox } from '../../plugins/outbox/postgres.ts'
import { openSqliteOutbox } from '../../plugins/outbox/sqlite.ts'
import { createTables, insertRow, postgresBackend, sqliteBackend } from '../support/outbox.ts'
import { startPostgres } from '../support/postgres.ts'

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

await t.test(
  'postgres: one daemon at a time takes rows, so that they keep their order',
  async (t) => {
    const backend = postgresBackend(await postgres.createDatabase())
    const session = await createTables(backend)
    t.teardown(() => session.close())
    await session.run(`CREATE SCHEMA other; SET search_path = other; ${OUTBOX_SQL.postgres}`)
    await session.run(`${insertRow({})}; SET search_path = public`)
    for (let n = 1; n <= 4; n += 1) await session.run(insertRow({ id: `evt_${n}` }))
    const ofOther = new URL(backend.url)
    ofOther.searchParams.set('options', '-c search_path=other')
    const [one, other, unrelated] = await Promise.all([
      openPostgresOutbox(backend.url, { rows: 2 }),
      openPostgresOutbox(backend.url, { rows: 4 }),
      openPostgresOutbox(ofOther.href),
    ])
    t.teardown(() => Promise.all([one, other, unrelated].map((source) => source.close())))
    const seen: string[] = []
    const publishAs =
      (name: string): PublishRows =>
      async (rows) => {
        seen.push(...rows.map(({ id }) => `${name} ${id}`))
        return rows.map(() => 'published')
      }
    await one.take(async (rows) => {
      t.equal(await other.take(publishAs('other'), []), 0, 'it finds it busy')
      t.equal(
        await unrelated.take(async () => ['published'], []),
        1,
        'another table is another lock',
      )
      return publishAs('one')(rows)
    }, [])
    const failing = one.take(() => Promise.reject(new Error('the store failed')), [])
    await t.rejects(failing, { message: 'the store failed' })
    t.equal(await other.take(publishAs('other'), []), 2)
    t.strictSame(seen, ['one evt_1', 'one evt_2', 'other evt_3', 'other evt_4'])
  },
)

await t.test('the role of the daemon is told what it may not do', async (t) => {
  const backend = postgresBackend(await postgres.createDatabase())
  const session = await createTables(backend)
  t.teardown(() => session.close())
  const role = `reader_${process.pid}_${Date.now()}`
  await session.run(`CREATE ROLE ${role} LOGIN; GRANT SELECT ON keyhook_outbox TO ${role}`)
  const url = new URL(backend.url)
  url.username = role
  await t.rejects(openPostgresOutbox(url.href), {
    message: `the role ${role} may not UPDATE, DELETE rows of keyhook_outbox: GRANT it to the role`,
  })
  await session.run(`GRANT UPDATE, DELETE ON keyhook_outbox TO ${role}`)
  const source = await openPostgresOutbox(url.href)
  await source.close()
  await session.run(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
})

await t.test(
  'sqlite: a file that is replaced is opened again, an absent one is not created',
  async (t) => {
    const folder = t.testdir()
    const absent = join(folder, 'absent.sqlite')
    await t.rejects(openSqliteOutbox(absent), { message: `${absent} cannot be opened` })
    const backend = sqliteBackend(folder)
    const session = await createTables(backend)
    const source = await openSqliteOutbox(join(folder, 'shop.sqlite'), { poll: 2500 })
    t.teardown(() => source.close())
    await source.take(async () => [], [])
    const replaced = source.available(new AbortController().signal)
    await session.close()
    renameSync(join(folder, 'shop.sqlite'), join(folder, 'old.sqlite'))
    const again = await createTables(sqliteBackend(folder))
    t.teardown(() => again.close())
    await t.rejects(replaced, /was replaced$/)
  },
)

await t.test(
  'sqlite: an account id stored as bytes is read, and left out, as its text',
  async (t) => {
    const backend = sqliteBackend(t.testdir())
    const session = await createTables(backend)
    t.teardown(() => session.close())
    await session.run(insertRow({ id: 'evt_text' }))
    await session.run(insertRow({ id: 'evt_bytes' }))
    await session.run(
      `UPDATE keyhook_outbox SET account_id = CAST(account_id AS BLOB) WHERE id = 'evt_bytes'`,
    )
    const source = await openSqliteOutbox(new URL(backend.url).pathname)
    t.teardown(() => source.close())
    const seen: string[] = []
    const publish: PublishRows = async (rows) => {
      seen.push(...rows.map(({ account_id }) => String(account_id)))
      return rows.map(() => 'published')
    }
    const [row] = await session.rows(
      'SELECT DISTINCT CAST(account_id AS TEXT) AS account FROM keyhook_outbox',
    )
    const account = String(row?.['account'])
    t.equal(await source.take(publish, [account]), 0, 'both are left out')
    t.equal(await source.take(publish, []), 2)
    t.strictSame(seen, [account, account])
  },
)

await t.test('sqlite: while accounts are left out, it looks again after one poll', async (t) => {
  const folder = t.testdir()
  const session = await createTables(sqliteBackend(folder))
  const file = join(folder, 'shop.sqlite')
  const [holding, idle] = await Promise.all([
    openSqliteOutbox(file, { poll: 100 }),
    openSqliteOutbox(file, { poll: 100 }),
  ])
  t.teardown(() => Promise.all([holding, idle, session].map((one) => one.close())))
  await holding.take(async () => [], ['acct_1'])
  await idle.take(async () => [], [])
  const ending = new AbortController()
  const waits = { holding: holding.available(ending.signal), idle: idle.available(ending.signal) }
  const first = await Promise.race(
    Object.entries(waits).map(([name, wait]) => wait.then(() => name)),
  )
  t.equal(first, 'holding')
  ending.abort()
  await Promise.all(Object.values(waits))
})

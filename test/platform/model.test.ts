import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { DOMAINS } from '../../plugins/platform/models/domains.ts'
import { openModels } from '../../plugins/platform/open.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import type { SqlClient } from '../../plugins/store/sql/client.ts'
import { fromUrl } from '../../plugins/store/sql/postgres/source.ts'
import { createMembership } from '../../plugins/store/sql/postgres/membership.ts'
import { openPostgres } from '../../plugins/store/sql/postgres.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { startPostgres } from '../support/postgres.ts'
import { sampleDomain } from './domain-samples.ts'
import { migratePlatform } from './over-client.ts'

const tables = namePlatformTables('')

/** Texts that a statement might be confused by, were they part of it. */
const AWKWARD = fc.oneof(
  fc.constantFrom(
    '$1',
    '$2',
    '$$',
    'a $x b',
    "it's",
    '"quoted"',
    '`tick`',
    '\\',
    '?',
    ':name',
    '%',
  ),
  fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
)

async function holdsAwkwardValues(t: Test, client: SqlClient): Promise<void> {
  await migratePlatform(client)
  const models = await openModels(client.dialect.name, tables)
  const property = fc.asyncProperty(AWKWARD, AWKWARD, async (token, error) => {
    await client.transaction(async (query) => {
      const rows = models.rowsOn(query)
      await query('DELETE FROM domains')
      await rows.insert(DOMAINS, DOMAINS.toRow(sampleDomain('dom_1', { token })))
      const change = DOMAINS.toRow({ error })
      const other = await rows.update(DOMAINS, { id: 'dom_1', token: `${token}!` }, change)
      const own = await rows.update(DOMAINS, { id: 'dom_1', token }, change)
      if (other !== 0 || own !== 1) throw new Error(`${other} and ${own} rows were changed`)
      const [row = {}] = await query('SELECT * FROM domains')
      const kept = DOMAINS.toRecord(row)
      if (kept.token !== token || kept.error !== error) throw new Error(JSON.stringify(kept))
    })
  })
  await fc.assert(property, { numRuns: 200 })
  await client.transaction(async (query) => {
    const rows = models.rowsOn(query)
    const change = DOMAINS.toRow({ error: 'late' })
    await query('DELETE FROM domains')
    await rows.insert(DOMAINS, DOMAINS.toRow(sampleDomain('dom_1', { error: null })))
    const guards = ['late', null, null, 'late'].map((error) => ({ id: 'dom_1', error }))
    const changed: number[] = []
    for (const guard of guards) changed.push(await rows.update(DOMAINS, guard, change))
    t.same(changed, [0, 1, 0, 1], 'null is compared too, by a statement of its own')
    await rows.insert(DOMAINS, DOMAINS.toRow(sampleDomain('dom_2', { error: 'late' })))
    const kept = await query('SELECT error FROM domains ORDER BY id')
    t.same(kept, [{ error: 'late' }, { error: 'late' }], 'a text where the row before had null')
  })
  const guard = { id: ['dom_1'] } as unknown as Readonly<Record<string, string>>
  await t.rejects(
    client.transaction((query) => models.rowsOn(query).update(DOMAINS, guard, {})),
    { message: 'the guard of id is not compared for equality' },
  )
  await t.rejects(
    client.transaction((query) =>
      models.rowsOn(query).update(DOMAINS, { id: '' }, { error: undefined }),
    ),
    { message: 'error has no value' },
  )
  const broken = DOMAINS.toRow(sampleDomain('dom_1'))
  await t.rejects(
    client.transaction(async (query) => {
      await models.rowsOn(query).insert(DOMAINS, broken)
      await models.rowsOn(query).insert(DOMAINS, broken)
    }),
    /UNIQUE|duplicate key/,
    'what the driver said comes through',
  )
}

await t.test('SQLite: values of models are never part of a statement', async (t) => {
  const client = await openSqlite(join(t.testdir(), 'keyhook.sqlite'))
  t.teardown(() => client.close())
  await holdsAwkwardValues(t, client)
})

await t.test('PostgreSQL: values of models are never part of a statement', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const source = await fromUrl(await server.createDatabase())
  const core = nameTables('')
  const client = openPostgres(source, core, createMembership(source, core))
  t.teardown(() => client.close())
  await holdsAwkwardValues(t, client)
})

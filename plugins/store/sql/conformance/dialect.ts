import assert from 'node:assert/strict'
import type { Query, SqlClient } from '../client.ts'
import { integer } from '../rows.ts'
import type { SqlClientCase } from './harness.ts'
import { idsOf, insertRow, openWithRows } from './harness.ts'

/** The ids of the rows for which a condition holds. */
async function where(
  client: SqlClient,
  condition: string,
  bound: unknown,
): Promise<readonly string[]> {
  const sql = `SELECT id FROM rows_of_case WHERE ${condition} ORDER BY id`
  const rows = await client.read<{ id: string }>(sql, [JSON.stringify(bound)])
  return rows.map(({ id }) => id)
}

export const dialectCases: readonly SqlClientCase[] = [
  {
    name: 'ids are compared bytewise',
    async run(harness) {
      const client = await openWithRows(harness)
      const ids = ['B', 'a', '_', '~', 'Ä', 'a_', 'aB', '0']
      await client.transaction(async (query) => {
        for (const id of ids) await insertRow(query, id, null)
      })
      assert.deepEqual(await idsOf(client.read), ['0', 'B', '_', 'a', 'aB', 'a_', '~', 'Ä'])
    },
  },
  {
    name: 'tableNames: every table by its name, from the transaction that creates it on',
    async run({ open }) {
      const client = await open()
      const names = async (query: Query): Promise<readonly string[]> =>
        (await query<{ name: string }>(client.dialect.tableNames)).map(({ name }) => name)
      const before = await names(client.read)
      assert.ok(!before.includes('named_by_case'))
      await client.transaction(async (query) => {
        await query('CREATE TABLE named_by_case (id TEXT)')
        await query('CREATE INDEX named_by_case_id ON named_by_case (id)')
        assert.deepEqual(new Set(await names(query)), new Set([...before, 'named_by_case']))
      })
      assert.deepEqual(new Set(await names(client.read)), new Set([...before, 'named_by_case']))
      await client.transaction((query) => query('DROP TABLE named_by_case'))
      assert.deepEqual(new Set(await names(client.read)), new Set(before))
    },
  },
  {
    name: 'among: a column is one of a JSON array',
    async run(harness) {
      const client = await openWithRows(harness, 'a', 'b', `c'"`)
      const among = client.dialect.among('body', '$1')
      assert.deepEqual(await where(client, among, ['b', `c'"`, 'd']), ['row_1', 'row_2'])
      assert.deepEqual(await where(client, among, []), [])
    },
  },
  {
    name: 'within: all of a column with a JSON array are in another; NULL is not',
    async run(harness) {
      const client = await openWithRows(harness, '["a","b"]', '[]', '["a","c"]')
      await client.transaction((query) => insertRow(query, 'null', null))
      const within = client.dialect.within('body', '$1')
      assert.deepEqual(await where(client, within, ['a', 'b']), ['row_0', 'row_1'])
      assert.deepEqual(await where(client, within, []), ['row_1'])
    },
  },
  {
    name: 'each: a JSON array of arrays is a table, its elements are texts',
    async run(harness) {
      const client = await harness.open()
      const each = client.dialect.each('$1', 'one')
      const sql = `SELECT one.value ->> 0 AS a, one.value ->> 1 AS b FROM ${each} ORDER BY 1`
      const rows = await client.read<{ a: string; b: string | number | null }>(sql, [
        JSON.stringify([
          ['x', 1],
          [`y'`, null],
        ]),
      ])
      assert.deepEqual(
        rows.map(({ a, b }) => [a, b === null ? null : String(b)]),
        [
          ['x', '1'],
          [`y'`, null],
        ],
      )
    },
  },
  {
    name: 'gather: the columns of a group are one JSON array, empty for no rows',
    async run(harness) {
      const client = await openWithRows(harness, 'a', 'b')
      const gather = client.dialect.gather(['id', 'body'])
      const read = async (condition: string): Promise<unknown> => {
        const sql = `SELECT ${gather} AS gathered FROM rows_of_case WHERE ${condition}`
        const [row] = await client.read<{ gathered: string }>(sql)
        return JSON.parse(row?.gathered ?? '')
      }
      assert.deepEqual(await read(`id = 'row_1'`), [['row_1', 'b']])
      const both = (await read('TRUE')) as readonly unknown[]
      assert.equal(both.length, 2)
      assert.deepEqual(await read('FALSE'), [])
    },
  },
  {
    name: 'field: a field of a JSON object, as text',
    async run(harness) {
      const client = await openWithRows(harness, '{"app":"x","n":7}', '{}')
      const read = async (name: string): Promise<readonly unknown[]> => {
        const sql = `SELECT ${client.dialect.field('body', name)} AS field FROM rows_of_case ORDER BY id`
        const rows = await client.read<{ field: string | number | null }>(sql)
        return rows.map(({ field }) => (field === null ? null : String(field)))
      }
      assert.deepEqual(await read('app'), ['x', null])
      assert.deepEqual(await read('n'), ['7', null])
    },
  },
  {
    name: 'encryptedUnder: the id of the master key of a ciphertext, and nothing of other texts',
    async run(harness) {
      const client = await openWithRows(harness, 'v1.key-1.abc.def', 'plain', '')
      const sql = `SELECT ${client.dialect.encryptedUnder('body')} AS under FROM rows_of_case ORDER BY id`
      const under = (await client.read(sql)).map((row) => row['under'])
      assert.deepEqual(under, ['key-1', '', ''])
    },
  },
  {
    name: 'onConflict: a statement against a unique index does nothing, and the transaction goes on',
    async run(harness) {
      const client = await openWithRows(harness, 'a')
      const { onConflict } = client.dialect
      await client.transaction(async (query) => {
        const sql = `INSERT INTO rows_of_case (id, body) VALUES ($1, 'x')
          ON CONFLICT DO NOTHING RETURNING id`
        assert.equal((await onConflict(query, sql, ['one'])).length, 1)
        assert.deepEqual(await onConflict(query, sql, ['row_0']), [])
        await insertRow(query, 'two', null)
      })
      assert.deepEqual(await idsOf(client.read), ['one', 'row_0', 'two'])
    },
  },
  {
    name: 'serial: a position is never given twice, also after the last row is deleted',
    async run({ open }) {
      const client = await open()
      const next = () =>
        client.exclusive('publish', (statement) =>
          statement(`INSERT INTO positions (body) VALUES ('x') RETURNING position`),
        )
      await client.transaction((query) =>
        query(`CREATE TABLE positions (position ${client.dialect.serial}, body TEXT)`),
      )
      const before = integer((await next())[0]?.['position'])
      await client.transaction((query) => query('DELETE FROM positions'))
      assert.ok(integer((await next())[0]?.['position']) > before)
    },
  },
]

import assert from 'node:assert/strict'
import type { SqlClient } from '../client.ts'
import { integer } from '../rows.ts'
import type { SqlClientCase } from './harness.ts'
import { insertRow, openWithRows } from './harness.ts'

/** Texts that quoting by hand, or a driver with an opinion, would change. */
const TEXTS = [
  '',
  `'); DROP TABLE rows_of_case; --`,
  '$1 ?1 :name @name %s',
  'a\tb\r\nc\\d"e',
  'Grüße 你好 🙂 e\u0301',
  '0012',
  'true',
  '{"a": [1, null]}',
  '2026-01-31T09:00:00Z',
  'x'.repeat(100_000),
]

const INTEGERS = [
  0,
  -1,
  1,
  2 ** 31,
  1_800_000_000_000,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
]

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, at) => at)

async function readBack(client: SqlClient, type: string, value: unknown): Promise<unknown> {
  return client.transaction(async (query) => {
    await query(`CREATE TABLE of_type (value ${type})`)
    await query('INSERT INTO of_type (value) VALUES ($1)', [value])
    const [row] = await query('SELECT value FROM of_type')
    await query('DROP TABLE of_type')
    return row?.['value']
  })
}

export const valueCases: readonly SqlClientCase[] = [
  {
    name: 'values are bound by the number of their parameter, which may be repeated',
    async run({ open }) {
      const client = await open()
      const sql = 'SELECT CAST($2 AS TEXT) AS b, CAST($1 AS TEXT) AS a, CAST($2 AS TEXT) AS c'
      assert.deepEqual(
        { ...(await client.read(sql, ['one', 'two']))[0] },
        { b: 'two', a: 'one', c: 'two' },
      )
    },
  },
  {
    name: 'texts come back as they were, and never become SQL',
    async run(harness) {
      const client = await openWithRows(harness)
      await client.transaction(async (query) => {
        for (const [at, text] of TEXTS.entries()) await insertRow(query, `row_${at}`, text)
      })
      for (const [at, text] of TEXTS.entries()) {
        const [row] = await client.read('SELECT body FROM rows_of_case WHERE id = $1', [
          `row_${at}`,
        ])
        assert.equal(row?.['body'], text, `text ${at}`)
      }
    },
  },
  {
    name: 'integers that JavaScript has exactly come back exactly, as numbers or as text',
    async run({ open }) {
      const client = await open()
      for (const value of INTEGERS) {
        assert.equal(integer(await readBack(client, 'BIGINT', value)), value, String(value))
      }
    },
  },
  {
    name: 'bytes come back as bytes',
    async run({ open }) {
      const client = await open()
      for (const bytes of [new Uint8Array(), EVERY_BYTE, new Uint8Array(1_000_000).fill(7)]) {
        const read = await readBack(client, client.dialect.bytes, bytes)
        assert.ok(read instanceof Uint8Array, `${bytes.length} bytes are a Uint8Array`)
        assert.equal(Buffer.compare(read, bytes), 0, `${bytes.length} bytes`)
      }
    },
  },
  {
    name: 'NULL is null, and no other value',
    async run({ open }) {
      const client = await open()
      for (const type of ['TEXT', 'BIGINT', client.dialect.bytes]) {
        assert.equal(await readBack(client, type, null), null, type)
      }
    },
  },
  {
    name: 'rows have their columns by name, in lower case, and none is an empty list',
    async run(harness) {
      const client = await openWithRows(harness, 'x')
      const [row] = await client.read('SELECT id, body, 1 AS more_of_it FROM rows_of_case')
      assert.deepEqual(Object.keys(row ?? {}), ['id', 'body', 'more_of_it'])
      assert.deepEqual(await client.read(`SELECT id FROM rows_of_case WHERE id = 'none'`), [])
    },
  },
  {
    name: 'a statement with RETURNING answers the rows that it changed',
    async run(harness) {
      const client = await openWithRows(harness, 'a', 'b', 'c')
      const changed = await client.transaction((query) =>
        query(`UPDATE rows_of_case SET body = $1 WHERE body <> $2 RETURNING id`, ['x', 'b']),
      )
      assert.deepEqual(new Set(changed.map((row) => row['id'])), new Set(['row_0', 'row_2']))
    },
  },
]

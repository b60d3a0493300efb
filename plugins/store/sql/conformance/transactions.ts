import assert from 'node:assert/strict'
import type { Query, SqlClient } from '../client.ts'
import { integer } from '../rows.ts'
import type { SqlClientCase } from './harness.ts'
import { idsOf, insertRow, openWithRows } from './harness.ts'

/** Writers at once. */
const WRITERS = 16

const fault = new Error('of the case')

/** Reads a number and writes the next one: what is not serialized loses some. */
async function increment(query: Query): Promise<void> {
  const [row] = await query(`SELECT body FROM rows_of_case WHERE id = 'row_0'`)
  const next = integer(row?.['body']) + 1
  await query(`UPDATE rows_of_case SET body = $1 WHERE id = 'row_0'`, [String(next)])
}

async function counted({ read }: SqlClient): Promise<number> {
  return integer((await read(`SELECT body FROM rows_of_case WHERE id = 'row_0'`))[0]?.['body'])
}

export const transactionCases: readonly SqlClientCase[] = [
  {
    name: 'a transaction is seen by others once it is committed, and whole',
    async run(harness) {
      const client = await openWithRows(harness)
      const result = await client.transaction(async (query) => {
        await insertRow(query, 'one', null)
        await insertRow(query, 'two', null)
        assert.deepEqual(await idsOf(query), ['one', 'two'], 'its own statements')
        return 'result'
      })
      assert.equal(result, 'result')
      assert.deepEqual(await idsOf(client.read), ['one', 'two'])
      assert.deepEqual(await idsOf(client.search), ['one', 'two'])
    },
  },
  {
    name: 'a transaction that rejects leaves nothing, and the next one works',
    async run(harness) {
      const client = await openWithRows(harness)
      const failing = client.transaction(async (query) => {
        await insertRow(query, 'one', null)
        await query('CREATE TABLE of_nothing (id TEXT)')
        throw fault
      })
      await assert.rejects(failing, fault)
      await assert.rejects(client.read('SELECT id FROM of_nothing'), Error)
      await client.transaction((query) => insertRow(query, 'two', null))
      assert.deepEqual(await idsOf(client.read), ['two'])
    },
  },
  {
    name: 'a statement against a unique index rejects, and with it what its transaction did',
    async run(harness) {
      const client = await openWithRows(harness, 'a')
      const failing = client.transaction(async (query) => {
        await insertRow(query, 'one', null)
        await insertRow(query, 'row_0', null)
      })
      await assert.rejects(failing, Error)
      assert.deepEqual(await idsOf(client.read), ['row_0'])
    },
  },
  {
    name: 'transactions are serialized',
    async run(harness) {
      const client = await openWithRows(harness, '0')
      await Promise.all(Array.from({ length: WRITERS }, () => client.transaction(increment)))
      assert.equal(await counted(client), WRITERS)
    },
  },
  {
    name: 'statements of one purpose are serialized, and each commits by itself',
    async run(harness) {
      const client = await openWithRows(harness, '0')
      const settling = Array.from({ length: WRITERS }, () => client.exclusive('settle', increment))
      await Promise.all(settling)
      assert.equal(await counted(client), WRITERS)
      const failing = client.exclusive('settle', async (statement) => {
        await insertRow(statement, 'one', null)
        await insertRow(statement, 'one', null)
      })
      await assert.rejects(failing, Error)
      assert.deepEqual(await idsOf(client.read), ['one', 'row_0'])
    },
  },
  {
    name: 'changes are known when the transaction resolves, and none of one that is rolled back',
    async run(harness) {
      const client = await openWithRows(harness)
      const seen: string[] = []
      client.changes.listen((change) => seen.push(change === 'all' ? change : change.id))
      const committed = () => seen.push('committed')
      const changing = (id: string) => ({
        changes: () => [{ kind: 'key', id } as const],
        committed,
      })
      await client.transaction((query) => insertRow(query, 'one', null), changing('key_1'))
      // It may be told more than once, when the database tells every process.
      const moments = [seen.indexOf('key_1'), seen.indexOf('committed')]
      assert.ok(!moments.includes(-1) && Math.min(...moments) === moments[0], seen.join('; '))
      const failing = client.transaction(() => Promise.reject(fault), changing('key_2'))
      await assert.rejects(failing, fault)
      assert.ok(!seen.includes('key_2'))
      assert.equal(client.changes.isCurrent(), true)
    },
  },
  {
    name: 'a statement that fails rejects, and takes nothing else with it',
    async run(harness) {
      const client = await openWithRows(harness, 'a')
      await assert.rejects(client.read('SELECT nothing FROM nowhere'), Error)
      assert.deepEqual(await idsOf(client.read), ['row_0'])
    },
  },
  {
    name: 'what holds the writers lets none write until it ends, or has taken too long',
    requires: 'hold',
    async run(harness) {
      const client = await openWithRows(harness)
      assert.ok(client.hold, 'it has hold')
      const order: string[] = []
      let writing: Promise<unknown> = Promise.resolve()
      await client.hold(
        async () => {
          writing = client.transaction(async (query) => {
            order.push('written')
            await insertRow(query, 'one', null)
          })
          await client.read('SELECT id FROM rows_of_case')
          order.push('held')
        },
        { maxAge: 60_000 },
      )
      await writing
      assert.deepEqual(order, ['held', 'written'])
      const late = client.hold(() => new Promise(() => undefined), {
        maxAge: 1,
      })
      await assert.rejects(late, { code: 'unavailable' })
      await client.transaction((query) => insertRow(query, 'two', null))
      assert.deepEqual(await idsOf(client.read), ['one', 'two'])
    },
  },
]

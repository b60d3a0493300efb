import assert from 'node:assert/strict'
import type { SqlClientCase } from './harness.ts'
import { idsOf, insertRow, openWithRows } from './harness.ts'

export const closingCases: readonly SqlClientCase[] = [
  {
    name: 'a transaction that an embedder did not begin cannot be joined',
    async run({ open }) {
      const client = await open()
      for (const transaction of [undefined, null, 7, 'BEGIN', {}, { connection: {} }]) {
        assert.throws(() => client.join(transaction), TypeError, JSON.stringify(transaction))
      }
    },
  },
  {
    name: 'closing waits for what was begun, once; nothing works afterwards',
    async run(harness) {
      const client = await openWithRows(harness)
      const writing = client.transaction(async (query) => {
        await insertRow(query, 'one', null)
        await insertRow(query, 'two', null)
      })
      const settling = client.exclusive('settle', (statement) =>
        insertRow(statement, 'three', null),
      )
      await Promise.all([client.close(), client.close()])
      await Promise.all([writing, settling])
      await assert.rejects(
        client.transaction((query) => insertRow(query, 'four', null)),
        Error,
      )
    },
  },
  {
    name: 'what was committed is there when the database is opened again',
    requires: 'reopen',
    async run(harness) {
      const client = await openWithRows(harness, 'a', 'b')
      await client.exclusive('settle', (statement) => insertRow(statement, 'one', null))
      const failing = client.transaction(async (query) => {
        await insertRow(query, 'two', null)
        throw new Error('of the case')
      })
      await assert.rejects(failing, /of the case/)
      await client.close()
      assert.ok(harness.reopen, 'the harness opens the database again')
      const again = await harness.reopen()
      try {
        assert.deepEqual(await idsOf(again.read), ['one', 'row_0', 'row_1'])
      } finally {
        await again.close()
      }
    },
  },
]

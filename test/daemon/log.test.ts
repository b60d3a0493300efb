import { join } from 'node:path'
import t from 'tap'
import { describeError } from '../../daemon/telemetry/log.ts'
import { kernelError } from '../../lib/errors.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'

await t.test('a database error is logged without the values that were bound', async (t) => {
  const client = await openSqlite(join(t.testdir(), 'log.db'))
  t.teardown(() => client.close())
  const statement = 'INSERT INTO nowhere VALUES ($1)'
  const failures = [
    () => client.read(statement, ['canary']),
    () => client.transaction((query) => query(statement, ['canary'])),
    () => client.exclusive('ping', (query) => query(statement, ['canary'])),
  ]
  for (const fail of failures) {
    const error = await fail().then(
      () => undefined,
      (cause: unknown) => cause,
    )
    const described = describeError(kernelError('unavailable', { cause: error }))
    t.match(described, { code: 'unavailable', cause: { message: /nowhere/ } })
    t.notMatch(JSON.stringify(described), 'canary')
  }
})

await t.test('causes end somewhere, and what is no error says only its type', async (t) => {
  const circle = new Error('circle')
  circle.cause = circle
  t.equal(JSON.stringify(describeError(circle)).split('"message":"circle"').length - 1, 5)
  t.same(describeError('canary'), { type: 'string', message: '', stack: undefined })
})

import { join } from 'node:path'
import t from 'tap'
import { describeError } from '../../daemon/telemetry/log.ts'
import { kernelError } from '../../lib/errors.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { askControl } from '../support/control.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { startReceiver } from '../support/receiver.ts'

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

interface Line {
  readonly level: string
  readonly msg: string
  readonly operation?: string
  readonly delivery_status?: string
}

await t.test('requests, deliveries and failures have levels of their own', async (t) => {
  const receiver = await startReceiver((socket, { body }) => {
    const isRefused = body.includes('"fails":true')
    const status = isRefused ? '503 Service Unavailable' : '204 No Content'
    socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`)
  })
  t.teardown(() => receiver.close())
  const data = join(t.testdir({}), 'data')
  /** The lines of a daemon that sent one event with success and one without. */
  const linesWith = async (levels: Readonly<Record<string, string>>): Promise<readonly Line[]> => {
    const daemon = await startDaemonProcess({
      KEYHOOK_DATA_DIR: data,
      KEYHOOK_OWNER_EMAIL: 'owner@example.com',
      KEYHOOK_OWNER_PASSWORD: 'a password of this test',
      KEYHOOK_EVENT_TYPES: 'order.paid',
      KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '600',
      ...levels,
    })
    const ask = askControl(data)
    const url = `http://127.0.0.1:${receiver.port}/`
    const { id } = await ask('POST', '/v1/webhooks', { url, events: ['order.paid'] })
    const before = receiver.requests.length
    for (const fails of [false, true]) {
      await ask('POST', '/v1/events', { type: 'order.paid', data: { fails } })
    }
    await until('both are sent', () => receiver.requests.length === before + 2)
    await ask('DELETE', `/v1/webhooks/${String(id)}`)
    // Its outcomes are recorded, and logged, before it ends.
    await daemon.end('SIGTERM')
    return daemon
      .output()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))
  }
  const kinds = (lines: readonly Line[], msg: string): readonly string[] => [
    ...new Set(lines.filter((line) => line.msg === msg).map(({ level }) => level)),
  ]
  const usual = await linesWith({})
  t.same(kinds(usual, 'request'), [])
  t.same(kinds(usual, 'delivery.succeeded'), [])
  t.same(kinds(usual, 'delivery.failed'), ['info'])
  const chosen = await linesWith({
    KEYHOOK_LOG_REQUESTS: 'info',
    KEYHOOK_LOG_DELIVERIES: 'warn',
    KEYHOOK_LOG_FAILURES: 'off',
  })
  t.same(kinds(chosen, 'request'), ['info'])
  t.same(kinds(chosen, 'delivery.succeeded'), ['warn'])
  t.same(kinds(chosen, 'delivery.failed'), [])
  const quiet = await linesWith({ KEYHOOK_LOG_LEVEL: 'error', KEYHOOK_LOG_REQUESTS: 'warn' })
  t.same(kinds(quiet, 'request'), [], 'below the level of the log')
})

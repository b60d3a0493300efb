import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { printStatus } from '../../daemon/cli/status.ts'
import type { DaemonStatus } from '../../daemon/telemetry/status.ts'
import { ROOT } from '../arch/source.ts'
import { runKeyhook } from '../support/backups.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

const MAIN = join(ROOT, 'dist/daemon/main.js')

await t.test('it shows what the daemon sends, and what failed', async (t) => {
  const data = join(t.testdir(), 'data')
  const receiver = await startReceiver(
    answerWith('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n'),
  )
  t.teardown(() => receiver.close())
  const daemon = await startDaemonProcess({
    KEYHOOK_DATA_DIR: data,
    KEYHOOK_OWNER_EMAIL: 'owner@example.com',
    KEYHOOK_OWNER_PASSWORD: 'a password of this test',
    KEYHOOK_EVENT_TYPES: 'order.paid',
    KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '3600',
  })
  t.teardown(() => daemon.end('SIGTERM'))
  const run = async (line: string): Promise<string> => {
    const { code, out, err } = await runKeyhook(data, line.split(' '))
    if (code !== 0) throw new Error(out + err)
    return out
  }
  const hook = `webhook create --url http://127.0.0.1:${receiver.port}/in --events order.paid --json`
  const { id } = JSON.parse(await run(hook)) as { readonly id: string }
  await run('event publish --type order.paid --data {}')
  const read = async () => JSON.parse(await run('status --json')) as DaemonStatus
  await until('the attempt has failed', async () => (await read()).last_errors.length > 0)
  t.match(await read(), {
    sending: 'active',
    events_total: 1,
    attempts_total: 1,
    attempts_unrecorded: 0,
    webhooks_failing: 1,
    unfinished_deliveries: Number,
    last_errors: [{ webhook_id: id, error: 'http_status', status_code: 503 }],
  })
  t.match(await run('status'), /^failing webhooks +1$/m, 'once, where nobody watches')

  const command = `${process.execPath} ${MAIN} status`
  const watching = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], KEYHOOK_DATA_DIR: data, TERM: 'xterm' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let shown = ''
  watching.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
  await until('a page with rates is shown', () => /events +\S* *\d\.\d\/s, 1 since/.test(shown))
  await run('event publish --type order.paid --data {}')
  // The daemon itself publishes that the webhook fails.
  await until('the next event is shown', () => /events +[^\n]*, [2-9] since the start/.test(shown))
  await daemon.end('SIGTERM')
  await until('the end is shown', () => shown.includes('no running daemon'))
  watching.kill('SIGTERM')
  await once(watching, 'exit')
})

await t.test('without a daemon there is nothing to show', async (t) => {
  const ran = await runKeyhook(join(t.testdir(), 'absent'), ['status'])
  t.match(ran, { code: 1, out: '', err: /no running daemon/ })
})

const STATUS: DaemonStatus = {
  at: '2026-01-31T12:00:10.000Z',
  version: '1.2.3',
  uptime_seconds: 100,
  sending: 'active',
  unfinished_deliveries: 4,
  webhooks_with_backlog: 2,
  webhooks_due: 1,
  oldest_due_seconds: 61.2,
  webhooks_failing: 0,
  claimed_deliveries: 3,
  events_total: 120,
  attempts_total: 50,
  attempts_unrecorded: 0,
  requests_total: 7,
  last_errors: [],
}

await t.test('rates are those between two pages of one process', (t) => {
  const before = { ...STATUS, at: '2026-01-31T12:00:00.000Z', uptime_seconds: 90, events_total: 20 }
  const page = printStatus(STATUS, before)
  t.match(page, /^events +10\.0\/s, 120 since the start$/m)
  t.match(page, /^oldest due +61 s, of 1 webhooks$/m)
  t.notMatch(page, 'UNRECORDED')
  const restarted = printStatus({ ...STATUS, uptime_seconds: 1 }, before)
  t.match(restarted, /^events +120 since the start$/m)
  t.end()
})

await t.test('what needs attention is in capitals', (t) => {
  const page = printStatus({ ...STATUS, sending: 'paused', attempts_unrecorded: 9 }, undefined)
  t.match(page, /^sending +PAUSED/m)
  t.match(page, /^UNRECORDED +9 outcomes/m)
  t.match(printStatus({ ...STATUS, oldest_due_seconds: null }, undefined), /oldest due +\? s/)
  t.end()
})

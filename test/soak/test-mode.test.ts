import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { createMovableClock } from '../../daemon/testing/clock.ts'
import { createClock } from '../support/clock.ts'
import type { DaemonProcess, Env } from '../support/daemon.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { blocksFor, blocksOf, openShell, settingsOf, walk } from '../support/page.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { versionOf } from '../support/receivers/process.ts'

const TOKEN = 'a token of this test, 32 characters'.replaceAll(' ', '-')

function startTest(env: Env = {}): Promise<DaemonProcess> {
  const given = { KEYHOOK_OPERATOR_TOKEN: TOKEN, KEYHOOK_EVENT_TYPES: 'order.paid', ...env }
  return startDaemonProcess(given, undefined, { command: ['serve', '--test'] })
}

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

function askAs(url: string, token = TOKEN) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    account?: string,
  ): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(account === undefined ? {} : { 'keyhook-account': account }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
}

/** The folder of a process with that id; undefined when it is gone. */
function folderOf({ child }: DaemonProcess): string | undefined {
  const parents = ['/dev/shm', tmpdir()].filter((parent) => existsSync(parent))
  const folders = parents.flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => name.startsWith('keyhook-test-'))
      .map((name) => join(parent, name)),
  )
  return folders.find((folder) => {
    const named = join(folder, 'lock.pid')
    return existsSync(named) && readFileSync(named, 'utf8').startsWith(`${child.pid} `)
  })
}

await t.test('timers follow a clock that is moved', async (t) => {
  const machine = createClock(1000)
  const clock = createMovableClock(machine)
  const ran: string[] = []
  clock.after(5000, () => ran.push('second'))
  clock.after(3000, () => ran.push('first'))
  clock.after(60_000, () => ran.push('later'))
  const cancel = clock.after(4000, () => ran.push('canceled'))
  cancel()
  clock.advance(10_000)
  t.equal(clock.now(), 11_000)
  await machine.advance(0)
  t.strictSame(ran, ['first', 'second'])
  await machine.advance(49_999)
  t.equal(ran.length, 2, 'the others wait for the rest of their delay')
  await machine.advance(1)
  t.strictSame(ran, ['first', 'second', 'later'])
  t.equal(machine.timers, 0)
})

await t.test('every command of docs/testing.md does what the page says', async (t) => {
  const hasPython = versionOf(['python3', '--version']) !== undefined
  if (!hasPython) t.comment('Python is not installed: its example was not run')
  const folder = t.testdir({})
  const command = blocksOf('testing.md').find(({ kind }) => kind === 'sh daemon')?.text ?? ''
  t.match(command, 'npm start -- --test')
  const daemon = await startTest(settingsOf(command))
  t.teardown(() => daemon.end('SIGTERM'))
  const blocks = blocksOf('testing.md', { 8420: new URL(daemon.url).port })
  for (const { kind, text } of blocks) {
    const [, name] = /^\w+ (\S+\.\w+)$/.exec(kind) ?? []
    if (name !== undefined) writeFileSync(join(folder, name), text)
  }
  const shell = openShell(folder, { PATH: process.env['PATH'] })
  t.teardown(() => shell.close())
  const followed = blocksFor(blocks, hasPython ? ['python'] : [])
  await walk(
    t,
    followed.map(({ kind, text }) => ({ kind, text: kind === 'sh' ? `{ ${text} } 2>&1` : text })),
    shell,
  )
})

await t.test('a reset removes everything, and the token works on', async (t) => {
  const receiver = await startReceiver((socket) => {
    socket.write('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n')
  })
  const daemon = await startTest()
  t.teardown(async () => {
    await daemon.end('SIGTERM')
    await receiver.close()
  })
  const ask = askAs(daemon.url)
  t.match(daemon.output(), 'Operator token: as configured')
  t.notMatch(daemon.output(), TOKEN)
  t.match(await askAs(daemon.url, 'no token')('POST', '/v1/test/reset'), { status: 401 })
  for (const round of [1, 2]) {
    const account = { id: 'acct_1', name: 'Acme' }
    t.match(await ask('POST', '/v1/accounts', account), { status: 201 }, `round ${round}`)
    const url = `http://127.0.0.1:${receiver.port}/`
    await ask('POST', '/v1/webhooks', { url, events: ['order.paid'] }, 'acct_1')
    const minted = await ask(
      'POST',
      '/v1/keys',
      { name: 'CI', scopes: ['webhooks:read'] },
      'acct_1',
    )
    await ask('POST', '/v1/events', { type: 'order.paid', data: {} }, 'acct_1')
    const before = receiver.requests.length
    t.match(await ask('POST', '/v1/test/clock', { advance: 10 }), { body: { idle: true } })
    t.ok(receiver.requests.length >= before + 1)
    const { body } = await ask('POST', '/v1/test/clock', { advance: 86_400 })
    t.ok(Date.parse(String(body['now'])) > Date.now() + 86_000_000)

    // Several at once are one.
    const asked = await Promise.all([1, 2, 3].map(() => ask('POST', '/v1/test/reset')))
    t.strictSame(
      asked.map(({ status }) => status),
      [200, 200, 200],
    )
    t.match(await ask('GET', '/v1/accounts'), { status: 200, body: { data: [] } })
    const key = askAs(daemon.url, String(minted.body['key']))
    t.match(await key('GET', '/v1/keys/self'), {
      status: 401,
      body: { error: { code: 'invalid_key' } },
    })
    const reset = await ask('POST', '/v1/test/clock', { advance: 0 })
    t.ok(Date.parse(String(reset.body['now'])) < Date.now() + 60_000, 'and the clock is set back')
    const sent = receiver.requests.length
    t.match(await ask('POST', '/v1/test/clock', { advance: 86_400 }), { body: { idle: true } })
    t.equal(receiver.requests.length, sent, 'nothing is sent that was due')
    await ask('POST', '/v1/test/reset')
  }
  t.match(await ask('POST', '/v1/test/clock', { advance: -1 }), { status: 400 })
})

await t.test('once it is idle, what a failure leads to was sent too', async (t) => {
  const gone = await startReceiver(answerWith('HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n'))
  const told = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
  const daemon = await startTest()
  t.teardown(async () => {
    await daemon.end('SIGTERM')
    await Promise.all([gone.close(), told.close()])
  })
  const ask = askAs(daemon.url)
  await ask('POST', '/v1/accounts', { id: 'acct_1', name: 'Acme' })
  const listen = (port: number, event: string): Promise<Answer> =>
    ask('POST', '/v1/webhooks', { url: `http://127.0.0.1:${port}/`, events: [event] }, 'acct_1')
  await listen(told.port, 'webhook.disabled')
  const rounds = 20
  for (let round = 1; round <= rounds; round++) {
    await listen(gone.port, 'order.paid')
    await ask('POST', '/v1/events', { type: 'order.paid', data: {} }, 'acct_1')
    t.match(await ask('POST', '/v1/test/clock', { advance: 0 }), { body: { idle: true } })
    if (told.requests.length !== round)
      t.fail(`round ${round}: ${told.requests.length} were told of`)
  }
  t.equal(told.requests.length, rounds)
})

await t.test('its folder goes with it, also one that was killed', async (t) => {
  const killed = await startTest()
  const left = folderOf(killed)
  t.ok(left, 'it has a folder')
  await killed.end('SIGKILL')
  t.ok(existsSync(left ?? ''), 'which a kill leaves behind')
  const foreign = mkdtempSync(join(dirname(left ?? ''), 'keyhook-test-'))
  t.teardown(() => {
    rmSync(foreign, { recursive: true })
  })
  writeFileSync(join(foreign, 'keyhook.id'), '')
  chmodSync(foreign, 0o777)
  const next = await startTest()
  const own = folderOf(next)
  t.notOk(existsSync(left ?? ''), 'until the next start')
  t.strictSame(readdirSync(foreign), ['keyhook.id'], 'what others can write is left alone')
  t.ok(own)
  t.equal(await next.end('SIGTERM'), 0)
  t.notOk(existsSync(own ?? ''))
})

await t.test('it does not start next to real data', async (t) => {
  const folder = t.testdir({ database: { 'keyhook.db': '' }, marked: { 'keyhook.id': '' } })
  const refused: readonly (readonly [env: Env, line: RegExp])[] = [
    [{ KEYHOOK_HOST: '0.0.0.0' }, /KEYHOOK_HOST must be a loopback address with --test/],
    [
      { KEYHOOK_DATABASE_URL: 'postgres://127.0.0.1/shop' },
      /KEYHOOK_DATABASE_URL cannot be set with --test/,
    ],
    [{ KEYHOOK_OUTBOX_URL: 'sqlite:shop.sqlite' }, /KEYHOOK_OUTBOX_URL cannot be set with --test/],
    [{ KEYHOOK_DATA_DIR: join(folder, 'database') }, /has the data of a daemon \(keyhook\.db\)/],
    [{ KEYHOOK_DATA_DIR: join(folder, 'marked') }, /has the data of a daemon \(keyhook\.id\)/],
  ]
  for (const [env, line] of refused) {
    const failure = await startTest(env).then(
      async (daemon) => {
        await daemon.end('SIGTERM')
        return 'it started'
      },
      (cause: unknown) => (cause as Error).message,
    )
    t.match(failure, line)
    t.equal(failure.split('\n').length, 1, 'one line')
  }
})

await t.test('no other daemon has the operations of a test', async (t) => {
  const folder = t.testdir({})
  mkdirSync(join(folder, 'data'))
  const env = { KEYHOOK_DATA_DIR: join(folder, 'data'), KEYHOOK_OPERATOR_TOKEN: TOKEN }
  const [dev, test] = [await startDaemonProcess(env), await startTest()]
  t.teardown(() => Promise.all([dev.end('SIGTERM'), test.end('SIGTERM')]))
  for (const path of ['/v1/test/clock', '/v1/test/reset']) {
    const refused = { status: 404, body: { error: { code: 'route_not_found' } } }
    t.match(await askAs(dev.url)('POST', path, { advance: 1 }), refused)
    t.match(await askAs(dev.url)('GET', path), refused)
  }
  const pathsOf = async ({ url }: DaemonProcess): Promise<readonly string[]> => {
    const { body } = await askAs(url)('GET', '/v1/openapi.json')
    return Object.keys(body['paths'] as object).filter((path) => path.startsWith('/v1/test'))
  }
  t.strictSame(await pathsOf(dev), [])
  t.strictSame((await pathsOf(test)).toSorted(), ['/v1/test/clock', '/v1/test/reset'])
})

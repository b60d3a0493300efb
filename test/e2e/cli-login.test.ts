/** `keyhook login`: which daemon elsewhere commands reach without a setting. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import type { Ran } from '../support/backups.ts'
import { runKeyhook } from '../support/backups.ts'
import { askControl } from '../support/control.ts'
import { startDaemonProcess } from '../support/daemon.ts'

const place = t.testdir({ home: {}, other: {} })
const data = join(place, 'data')
const home = join(place, 'home')
const file = join(home, '.config/keyhook/credentials.json')
const daemon = await startDaemonProcess({
  KEYHOOK_DATA_DIR: data,
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'a password of this test',
})
t.teardown(() => daemon.end('SIGTERM'))
const { key, id } = await askControl(data)('POST', '/v1/keys', { name: 'mine', scopes: ['keys:*'] })

/** Without a data folder: `KEYHOOK_DATA_DIR` would win. */
function run(line: string, input = '', env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const own = { HOME: home, KEYHOOK_DATA_DIR: undefined, ...env }
  return runKeyhook(data, line.split(' '), { env: own, input })
}

/** A person at a terminal, who types this once something is asked. */
async function atTerminal(args: readonly string[], typed: string) {
  const command = [process.execPath, join(ROOT, 'dist/daemon/main.js'), ...args].join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], HOME: home, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => {
    const wasAsked = shown.includes(': ')
    shown += chunk.toString()
    if (!wasAsked && shown.includes(': ')) child.stdin.write(typed)
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return { code, shown }
}

await t.test('a login is verified, kept for its user, and used', async (t) => {
  const made = await run(`login ${daemon.url} --json`, `${String(key)}\n`)
  t.equal(made.code, 0, made.err)
  t.match(JSON.parse(made.out), { url: daemon.url, key_id: id, name: 'mine', file })
  t.notMatch(made.out + made.err, String(key), 'the key is not printed')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(statSync(join(file, '..')).mode & 0o777, 0o700)
  const listed = await run('key list --json')
  t.match(JSON.parse(listed.out), { data: [{ id }] }, listed.err)
})

await t.test('settings win over it', async (t) => {
  const wrong = `service_dk_${'a'.repeat(49)}`
  const asked = await run('key list', '', { KEYHOOK_URL: daemon.url, KEYHOOK_KEY: wrong })
  t.equal(asked.code, 1)
  const nowhere = await run('key list', '', { KEYHOOK_DATA_DIR: join(place, 'nowhere') })
  t.match(nowhere, { code: 1, err: /does not exist/ })
})

await t.test('a key that is refused is not kept, and an address must be one', async (t) => {
  const before = readFileSync(file)
  const refused = await run(`login ${daemon.url}`, `service_dk_${'a'.repeat(49)}\n`)
  t.match(refused, { code: 1, err: /refuses the key/ })
  t.match(await run('login', 'http://keys.example.com\nx\n'), { code: 1, err: /must be an https/ })
  t.match(await run(`login ${daemon.url}`, '\n'), { code: 1, err: /no key was given/ })
  t.same(readFileSync(file), before)
  const lines = await run('login', `${daemon.url}\n${String(key)}\n`)
  t.equal(lines.code, 0, lines.err)
})

await t.test('a file that others may read, or that is damaged, is refused', async (t) => {
  chmodSync(file, 0o644)
  t.match(await run('key list'), { code: 1, err: /can be read by others: chmod 600/ })
  chmodSync(file, 0o600)
  const whole = readFileSync(file)
  writeFileSync(file, '{"url":')
  t.match(await run('key list'), { code: 1, err: /`keyhook login` writes it anew/ })
  writeFileSync(file, whole)
})

await t.test('what is not given is named, once', async (t) => {
  const none = await run('login')
  t.match(none, { code: 1, out: '', err: /^keyhook: no address was given: .*\n$/ })
  const half = await run('login', `${daemon.url}\n`)
  t.match(half, { code: 1, out: '', err: /^keyhook: no key was given: .*\n$/ })
  // A person who ends the input, at either question.
  for (const [args, message] of [
    [['login'], 'no address was given'],
    [['login', daemon.url], 'no key was given'],
  ] as const) {
    const ended = await atTerminal(args, '\u0004')
    t.match(ended, { code: 1 })
    t.match(ended.shown, new RegExp(`keyhook: ${message}`))
    t.notMatch(ended.shown, /Warning/)
  }
})

await t.test('logout forgets it', async (t) => {
  t.match(await run('logout'), { code: 0, out: /Logged out/ })
  t.notOk(existsSync(file))
  t.match(await run('logout'), { code: 0, out: /There was no login/ })
  const homeless = await run(`login ${daemon.url}`, `${String(key)}\n`, { HOME: undefined })
  t.match(homeless, { code: 1, err: /HOME is not set/ })
})

import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { checkNode } from '../../daemon/cli/doctor.ts'
import { runCli } from '../../daemon/cli/program.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import { FAMILIES } from '../../daemon/families/index.ts'

/** `npm test` builds it first. */
const MAIN = fileURLToPath(new URL('../../daemon/main.js', import.meta.url))
const ROOT = t.testdir()
const OWNER = {
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'correct horse battery',
}

type Env = Readonly<Record<string, string>>
type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** The program in a data folder of its own name, with no setting but these. */
function start(folder: string, args: readonly string[], env: Env = {}): Child {
  const given = { KEYHOOK_DATA_DIR: join(ROOT, folder), KEYHOOK_PORT: '0', ...env }
  const { PATH } = process.env
  const child = spawn(process.execPath, [MAIN, ...args], { env: { PATH, ...given }, stdio: 'pipe' })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

async function keyhook(folder: string, line: string, env: Env = {}, input = '') {
  const child = start(folder, line.split(' '), env)
  child.stdin.end(input)
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  return { code, out, err }
}

/** The same in this process, for lines that end before anything is opened. */
async function runHere(folder: string, line: string, env: Env) {
  const ran = { code: 0, out: '', err: '' }
  const terminal = {
    env: { KEYHOOK_DATA_DIR: join(ROOT, folder), ...env },
    out: (more: string) => void (ran.out += more),
    err: (more: string) => void (ran.err += more),
    readInput: () => Promise.resolve(''),
  }
  ran.code = await runCli(line.split(' '), terminal, commandsOf(FAMILIES))
  return ran
}

/** A daemon that has said where it serves. */
async function serve(folder: string, args: readonly string[] = [], env: Env = OWNER) {
  const child = start(folder, ['serve', '--json', ...args], env)
  const err = text(child.stderr)
  const [line] = (await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(async () => Promise.reject(new Error(await err))),
  ])) as [Buffer]
  const { url } = JSON.parse(line.toString()) as { readonly url: string }
  return {
    url,
    pid: child.pid ?? 0,
    async stop(signal: NodeJS.Signals) {
      const exit = once(child, 'exit')
      child.kill(signal)
      const [code] = (await exit) as [number | null]
      return code
    },
  }
}

async function selfName(url: string, key: string): Promise<unknown> {
  const answer = await fetch(`${url}/v1/keys/self`, { headers: { authorization: `Bearer ${key}` } })
  return ((await answer.json()) as Readonly<Record<string, unknown>>)['name']
}

async function mode(folder: string, file: string): Promise<string> {
  return ((await stat(join(ROOT, folder, file))).mode & 0o777).toString(8)
}

const MAKE_KEY = 'key create --scopes apps:read --raw --name'

await t.test(
  'commands go through a daemon that runs, and to its store when none does',
  async (t) => {
    const first = await serve('shared')
    t.equal(await mode('shared', 'master-key'), '600')
    t.equal(await mode('shared', 'control.sock'), '600')
    const live = await keyhook('shared', `${MAKE_KEY} live`)
    t.equal(await selfName(first.url, live.out.trim()), 'live')
    t.match((await keyhook('shared', 'doctor')).out, /ok +data folder +held by a running daemon/)
    t.match(await keyhook('shared', 'doctor --live'), { code: 0, out: /^ok +live +the running/ })
    t.match(await keyhook('shared', 'doctor --ready'), { code: 0, out: /^ok +ready +the running/ })

    const twin = await keyhook('shared', 'serve', OWNER)
    t.strictSame([twin.code, twin.out], [1, ''])
    t.equal(
      twin.err,
      `keyhook: KEYHOOK_DATA_DIR ${join(ROOT, 'shared')} is held by process ${first.pid}, and one process works with it at a time. Stop it (Ctrl-C where it runs, or kill ${first.pid}), or set KEYHOOK_DATA_DIR to another folder\n`,
    )
    t.equal(await mode('shared', 'lock.pid'), '600')
    // Left behind by one that was killed, or not written yet by the one that holds it.
    await writeFile(join(ROOT, 'shared', 'lock.pid'), `4194305 ${hostname()}\n`)
    const late = await keyhook('shared', 'serve', OWNER)
    t.match(late.err, /is held by another process, .* Stop it, or set KEYHOOK_DATA_DIR/)
    await writeFile(join(ROOT, 'shared', 'lock.pid'), '1 elsewhere\n')
    const distant = await keyhook('shared', 'serve', OWNER)
    t.match(distant.err, /is held by process 1 of elsewhere, .* Stop it, or/)
    t.equal(await first.stop('SIGTERM'), 0)
    t.match(await keyhook('shared', 'doctor --live'), { code: 1, out: /^FAILED +live +no daemon/ })
    t.notOk((await readdir(join(ROOT, 'shared'))).includes('lock.pid'))

    // Commands that meet over a folder without a daemon all come through, one writer at a time.
    const idle = await Promise.all(
      ['one', 'two'].map((name) => keyhook('shared', `${MAKE_KEY} ${name}`)),
    )
    t.strictSame(
      idle.map(({ code, err }) => [code, err]),
      idle.map(() => [0, '']),
    )
    const doctor = await keyhook('shared', 'doctor --json')
    const found = JSON.parse(doctor.out) as { ok: boolean; checks: { name: string; ok: boolean }[] }
    t.strictSame([doctor.code, found.ok], [0, true])
    t.strictSame(
      found.checks.map(({ name, ok }) => [name, ok]),
      [
        'node',
        'configuration',
        'clock',
        'data folder',
        'port',
        'apps port',
        'database',
        'master key',
      ].map((name) => [name, true]),
    )

    const second = await serve('shared')
    t.equal(await selfName(second.url, live.out.trim()), 'live')
    t.equal(await selfName(second.url, idle[0]?.out.trim() ?? ''), 'one')
    const list = JSON.parse((await keyhook('shared', 'key list --json')).out) as { data: unknown[] }
    t.equal(list.data.length, 3)
    t.equal(await second.stop('SIGINT'), 0)
    t.strictSame(
      (await readdir(join(ROOT, 'shared'))).filter((name) => /sock|wal/.test(name)),
      [],
    )
  },
)

await t.test('a daemon that was killed leaves nothing that keeps the next one out', async (t) => {
  const killed = await serve('killed')
  const made = await keyhook('killed', `${MAKE_KEY} before`)
  await killed.stop('SIGKILL')
  const next = await serve('killed')
  t.equal(await selfName(next.url, made.out.trim()), 'before')
  t.equal(await next.stop('SIGTERM'), 0)

  await rm(join(ROOT, 'killed', 'master-key'))
  const keyless = await keyhook('killed', 'serve')
  t.equal(keyless.code, 1)
  t.match(keyless.err, /keyhook: KEYHOOK_MASTER_KEY is missing/)
  const doctor = await keyhook('killed', 'doctor')
  t.equal(doctor.code, 1)
  t.match(doctor.out, /FAILED +master key +KEYHOOK_MASTER_KEY is missing/)
})

await t.test('serve says where it listens, what --dev allows, and where to begin', async (t) => {
  const child = start('greeted', ['serve', '--dev'])
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const greeting = line.toString()
  t.match(greeting, /^Keyhook serves http:\/\/127\.0\.0\.1:\d+\n/)
  t.match(greeting, /loopback only.*\n.*1, 2, 4 s, 3 failures disable/)
  t.match(greeting, /\/studio\/setup#token=\S+\n$/)
  const made = await keyhook(
    'greeted',
    'owner create --email a@b.example --password-stdin --json',
    {},
    'correct horse battery\n',
  )
  t.match(JSON.parse(made.out), { email: 'a@b.example' })
  const refused = await keyhook('greeted', 'key create --name A --scopes apps:raed --json')
  t.equal(refused.code, 1)
  t.match(JSON.parse(refused.out), { error: { code: 'invalid_scope', status: 400 } })
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  t.strictSame(await exit, [0, null])
})

await t.test('a second signal ends at once what the first one waits for', async (t) => {
  const child = start('waiting', ['serve', '--json'], OWNER)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const { port } = new URL((JSON.parse(line.toString()) as { readonly url: string }).url)
  const request = connect(Number(port), '127.0.0.1')
  t.teardown(() => request.destroy())
  request.on('error', () => undefined)
  const head = ['POST /v1/session HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Content-Length: 9']
  request.write([...head, 'Expect: 100-continue', '', ''].join('\r\n'))
  const [answer] = (await once(request, 'data')) as [Buffer]
  t.match(answer.toString(), /^HTTP\/1\.1 100 /)
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  let log = ''
  for await (const more of child.stderr) {
    log += String(more)
    if (log.includes('stopping')) break
  }
  t.equal(child.exitCode, null)
  child.kill('SIGTERM')
  t.strictSame(await exit, [143, null])
})

await t.test('what cannot be served is refused at start in one line', async (t) => {
  const cases: readonly (readonly [string, Env, RegExp])[] = [
    ['serve', { KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '5,x' }, /KEYHOOK_WEBHOOK_RETRY_SCHEDULE must be/],
    ['serve', { KEYHOOK_WEBHOOK_ALLOW: '10.0.0.0/99' }, /KEYHOOK_WEBHOOK_ALLOW /],
    ['serve', { KEYHOOK_PROT: '1' }, /Unknown setting KEYHOOK_PROT\. Did you mean KEYHOOK_PORT\? /],
    ['serve', { KEYHOOK_MASTER_KEYFILE: 'x' }, /Did you mean KEYHOOK_MASTER_KEY_FILE\? docs/],
    ['serve', { KEYHOOK_ZEBRAS: '1' }, /Unknown setting KEYHOOK_ZEBRAS\. docs\/config\.md lists/],
    ['serve --dev', { KEYHOOK_HOST: '0.0.0.0' }, /KEYHOOK_HOST must be a loopback address/],
    ['serve --no-dispatch', {}, /KEYHOOK_DATABASE_URL must be postgres/],
    ['dispatch', {}, /KEYHOOK_DATABASE_URL must be postgres/],
    ['key list', {}, /KEYHOOK_DATA_DIR .* does not exist/],
  ]
  for (const [line, env, message] of cases) {
    const ran = await runHere('absent', line, env)
    t.match(ran, { code: 1, out: '', err: message }, line)
    t.match(ran.err, /^keyhook: .+\n$/, line)
  }
  await t.rejects(stat(join(ROOT, 'absent')), 'and nothing is made')
  const doctor = await runHere('absent', 'doctor', { KEYHOOK_PROT: '1' })
  t.match(doctor, { code: 1, out: /FAILED +configuration +Unknown setting KEYHOOK_PROT/ })
})

await t.test('doctor knows the oldest Node that works', async (t) => {
  t.match(checkNode('20.18.3'), { ok: false, detail: '20.19 is the oldest that works' })
  t.match(checkNode('20.19.0'), { ok: true, detail: '24 is recommended' })
  t.strictSame(checkNode('24.1.0'), { name: 'node', ok: true, detail: '24.1.0' })
})

/** The unit of systemd, checked by systemd's own programs, and against what the executable asks of the kernel. */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { ROOT } from '../arch/source.ts'
import { until } from '../support/daemon.ts'
import { pdfOf } from '../support/documents.ts'
import { buildExecutable } from '../support/executable.ts'
import { isLate } from '../support/late-document.ts'

t.setTimeout(10 * MINUTE)

const exec = promisify(execFile)
const UNIT = join(ROOT, 'packaging/keyhook.service')
const NOBODY = 65_534
/** In tenths, as `systemd-analyze` takes it: 10.0 is a unit without any restriction. */
const MAX_EXPOSURE = 15

const missing = ['systemd-analyze', 'strace'].filter(
  (name) => spawnSync(name, ['--version']).status !== 0,
)
if (process.getuid?.() !== 0) missing.push('root')
for (const name of missing) t.comment(`without ${name} the unit is not checked`)
if (process.env['CI'] === 'true') t.same(missing, [], 'a machine of CI checks the unit')

/** The names of a set of system calls, and of the sets in it. */
async function callsOf(set: string): Promise<readonly string[]> {
  const { stdout } = await exec('systemd-analyze', ['syscall-filter', set])
  const names = stdout
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  const inner = await Promise.all(names.filter((name) => name.startsWith('@')).map(callsOf))
  return [...names.filter((name) => !name.startsWith('@')), ...inner.flat()]
}

if (missing.length === 0) {
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-unit-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const executable = join(folder, 'keyhook')
  await buildExecutable(executable)
  const unit = await readFile(UNIT, 'utf8')
  const verify = async (text: string): Promise<string> => {
    const file = join(folder, 'keyhook.service')
    await writeFile(file, text.replace('/usr/local/bin/keyhook', executable))
    const { stdout, stderr } = await exec('systemd-analyze', ['verify', file])
    return stdout + stderr
  }

  await t.test('every line of it is known to systemd', async (t) => {
    t.equal(await verify(unit), '')
    t.match(await verify(unit.replace('ProtectClock', 'ProtectClok')), /ProtectClok/)
  })

  await t.test('its exposure is bounded', async (t) => {
    const args = ['security', '--offline=true', `--threshold=${MAX_EXPOSURE}`]
    const { stdout } = await exec('systemd-analyze', [...args, UNIT])
    t.match(stdout, /exposure level for keyhook.service: 1\.\d OK/)
    const looser = join(folder, 'looser.service')
    await writeFile(looser, unit.replaceAll(/^(Restrict|Capability).*$/gm, ''))
    await t.rejects(exec('systemd-analyze', [...args, looser]))
  })

  await t.test(
    'it permits every system call of a daemon that serves and reads files',
    async (t) => {
      const [permitted, refused] = await Promise.all([
        callsOf('@system-service'),
        callsOf('@privileged'),
      ])
      const calls = await traced(folder, executable)
      t.ok(calls.includes('listen') && calls.includes('execve'), calls.join(' '))
      t.same(
        calls.filter((name) => !permitted.includes(name) || refused.includes(name)),
        [],
      )
    },
  )
}

/** The system calls of a daemon, and of its child that reads a document. */
async function traced(folder: string, executable: string): Promise<readonly string[]> {
  const [data, summary] = [join(folder, 'data'), join(folder, 'summary')]
  await mkdir(data)
  await writeFile(summary, '')
  await Promise.all([data, summary].map((path) => chown(path, NOBODY, NOBODY)))
  const env = {
    PATH: process.env['PATH'],
    KEYHOOK_DATA_DIR: data,
    KEYHOOK_PORT: '0',
    KEYHOOK_APPS_PORT: '0',
    KEYHOOK_OWNER_EMAIL: 'owner@example.com',
    KEYHOOK_OWNER_PASSWORD: 'a password of this test',
  }
  const user = { uid: NOBODY, gid: NOBODY, env }
  const command = ['-f', '-c', '-o', summary, executable, 'serve']
  const child = spawn('strace', command, { ...user, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines = createInterface(child.stdout)
  const [line] = (await Promise.race([
    once(lines, 'line'),
    ended.then(() => Promise.reject(new Error('it ended'))),
  ])) as [string]
  const url = /http:\S+/.exec(line)?.[0] ?? ''
  const scopes = ['--scopes', 'apps:*,files:*', '--raw']
  const made = await exec(executable, ['key', 'create', '--name', 'one', ...scopes], user)
  const authorization = `Bearer ${made.stdout.trim()}`
  const created = await fetch(`${url}/v1/apps`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'S', template_id: 'landing' }),
  })
  const files = `${url}/v1/apps/${((await created.json()) as { id: string }).id}/files`
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(pdfOf(['A well.']))]), 'well.pdf')
  await fetch(files, { method: 'POST', body: form, headers: { authorization } })
  let isRetried = false
  await until('the document was read', async () => {
    const listed = await fetch(files, { headers: { authorization } })
    const { data } = (await listed.json()) as {
      data: readonly { id: string; status: string; error: unknown }[]
    }
    const [file] = data
    if (file !== undefined && isLate(file) && !isRetried) {
      isRetried = true
      await fetch(`${files}/${file.id}/retry`, { method: 'POST', headers: { authorization } })
    }
    return file?.status === 'processed'
  })
  const [pid] = (await readFile(join(data, 'lock.pid'), 'utf8')).split(' ')
  process.kill(Number(pid), 'SIGTERM')
  await ended
  const rows = (await readFile(summary, 'utf8')).split('\n').slice(2)
  const names = rows.map((row) => row.trim().split(/\s+/).at(-1) ?? '')
  return names.filter((name) => /^\w*[a-z]\w*$/.test(name) && name !== 'total')
}

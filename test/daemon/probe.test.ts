import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import type { Check } from '../../daemon/cli/check.ts'
import type { Probe } from '../../daemon/cli/probe.ts'
import { probe } from '../../daemon/cli/probe.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'

/** What a probe says while something answers so on the control socket. */
async function probing(name: Probe, answer: RequestListener, within?: number): Promise<Check> {
  const folder = t.testdir()
  const server = createServer(answer).listen(join(folder, 'control.sock'))
  await once(server, 'listening')
  try {
    return await probe(name, { KEYHOOK_DATA_DIR: folder }, within)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

await t.test('each asks its own question', async (t) => {
  const asked: (string | undefined)[] = []
  const answer: RequestListener = ({ url }, response) => {
    asked.push(url)
    response.end('{}')
  }
  t.match(await probing('live', answer), { name: 'live', ok: true })
  t.match(await probing('ready', answer), { name: 'ready', ok: true })
  t.same(asked, ['/healthz', '/readyz'])
})

await t.test('a daemon that cannot write is not ready', async (t) => {
  const check = await probing('ready', (_, response) => response.writeHead(503).end('{}'))
  t.match(check, { ok: false, detail: 'the daemon answers 503: see its log' })
})

await t.test('a daemon that answers nothing is given up', async (t) => {
  t.match(await probing('live', () => undefined, 10), { ok: false, detail: /does not answer/ })
})

await t.test('without a daemon, or with settings that cannot be read, it says so', async (t) => {
  const env = { KEYHOOK_DATA_DIR: join(t.testdir(), 'absent') }
  t.match(await probe('live', env), { ok: false, detail: /^no daemon runs/ })
  t.match(await probe('live', { KEYHOOK_PORT: 'x' }), { ok: false, detail: /KEYHOOK_PORT/ })
})

await t.test('a daemon that stops is alive, and no longer ready', async (t) => {
  const env = { KEYHOOK_DATA_DIR: t.testdir(), KEYHOOK_STOP_DELAY: '20' }
  const daemon = await startDaemonProcess(env)
  t.teardown(() => daemon.end('SIGKILL'))
  t.match(await probe('ready', env), { ok: true })
  daemon.child.kill('SIGTERM')
  await until('it is not ready', async () => !(await probe('ready', env)).ok)
  t.match(await probe('ready', env), { detail: 'the daemon answers 503: see its log' })
  t.match(await probe('live', env), { ok: true })
})

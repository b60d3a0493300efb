import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import type { Test } from 'tap'
import type { Listener } from '../../../daemon/listener/listener.ts'
import { openListener } from '../../../daemon/listener/listener.ts'
import { askControl } from '../../support/control.ts'
import { startDaemonProcess, until } from '../../support/daemon.ts'
import type { RawConnection } from '../../support/raw-http.ts'
import { openRaw } from '../../support/raw-http.ts'
import { ROOT } from '../../arch/source.ts'
import type { Checks } from '../run.ts'
import { freePort } from '../../support/free-port.ts'

const OPEN_FILES = 512
const HALF_REQUESTS = 700
const OTHER = '127.0.0.2'

const get = (path: string, host: string): string => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`

/** Half-sent requests from one address; those that were refused count too. */
async function sendHalves(t: Test, ports: readonly number[], each: number): Promise<void> {
  const opened: RawConnection[] = []
  t.teardown(() => opened.forEach((one) => one.destroy()))
  for (const port of ports) {
    for (let sent = 0; sent < each; sent += 1) {
      const one = await openRaw(port)
      one.send('POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9')
      opened.push(one)
    }
  }
}

/** The status that a client of another network gets over a connection of its own. */
async function askFrom(from: string, port: number, path: string): Promise<number | undefined> {
  const client = await openRaw(port, '127.0.0.1', from)
  client.send(get(path, `127.0.0.1:${port}`))
  const answer = await client.answer()
  client.destroy()
  return answer?.status
}

async function openReceiver(t: Test) {
  let received = 0
  const server = createServer((request, response) => {
    received += 1
    request.resume()
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    get received() {
      return received
    },
  }
}

/** A daemon with few descriptors, one account with a webhook, and the ports of both listeners. */
async function openSmallDaemon(t: Test) {
  const folder = t.testdir()
  const appsPort = await freePort()
  const env = {
    KEYHOOK_DATA_DIR: folder,
    KEYHOOK_APPS_PORT: String(appsPort),
    KEYHOOK_CONNECTIONS: '9000',
    KEYHOOK_OWNER_EMAIL: 'owner@example.com',
    KEYHOOK_OWNER_PASSWORD: 'correct horse battery',
  }
  const daemon = await startDaemonProcess(env, ROOT, { openFiles: OPEN_FILES })
  t.teardown(() => void daemon.end('SIGKILL'))
  return { daemon, control: askControl(folder), port: Number(new URL(daemon.url).port), appsPort }
}

/** A listener whose requests to `/slow` are answered when told. */
async function openSlowListener(t: Test, limits: { total: number; perNetwork: number }) {
  const waiting: (() => void)[] = []
  const listener: Listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    setting: 'KEYHOOK_PORT',
    limits,
    trustedProxies: [],
    notReady: (request, response) => {
      if (request.url === '/slow') waiting.push(() => void response.end('late'))
      else response.end('now')
    },
    tooMany: (_request, response) => void response.end(),
    times: { keepAliveTimeout: 1000 },
  })
  t.teardown(() => listener.close(0))
  return { listener, waiting, port: listener.address.port }
}

export const CONNECTION_CHECKS: Checks = {
  async F01(t, saw) {
    const { daemon, control, port, appsPort } = await openSmallDaemon(t)
    const receiver = await openReceiver(t)
    const webhook = await control('POST', '/v1/webhooks', {
      url: receiver.url,
      events: ['app.created'],
    })
    await sendHalves(t, [port, appsPort], HALF_REQUESTS)
    t.match(daemon.output(), 'connections.lowered')
    const api = await askFrom(OTHER, port, '/healthz')
    saw(`${api} from the API`)
    const apps = await askFrom(OTHER, appsPort, '/')
    saw(`${apps} from the apps listener`)
    const tested = await control('POST', `/v1/webhooks/${String(webhook['id'])}/test`)
    t.match(tested, { status: /^(succeeded|delivering|pending)$/ }, 'the control socket answers')
    await until('the delivery arrives', () => receiver.received > 0)
    t.equal(await daemon.end('SIGTERM'), 0)
  },

  async F02(t, saw) {
    const { port, waiting } = await openSlowListener(t, { total: 8, perNetwork: 8 })
    const attacker = await Promise.all(Array.from({ length: 8 }, () => openRaw(port)))
    for (const one of attacker) one.send(get('/slow', 'a'))
    await until('all of them are in progress', () => waiting.length === 8)
    const others = [2, 3, 4].map((host) => `127.0.0.${host}`)
    for (const from of others) saw(`${await askFrom(from, port, '/')} to each other network`)
    for (const one of attacker) one.destroy()
  },

  async F03(t, saw) {
    const { port, waiting } = await openSlowListener(t, { total: 100, perNetwork: 3 })
    const attacker = await Promise.all(Array.from({ length: 3 }, () => openRaw(port)))
    for (const one of attacker) one.send(get('/slow', 'a'))
    await until('all of them are in progress', () => waiting.length === 3)
    const fourth = await openRaw(port)
    fourth.send(get('/', 'a'))
    saw((await fourth.answer()) === undefined ? 'closed' : 'answered')
    saw(`${await askFrom(OTHER, port, '/')} to another network`)
    for (const one of attacker) one.destroy()
  },

  async F04(t, saw) {
    const { port } = await openSlowListener(t, { total: 100, perNetwork: 8 })
    const idle = await Promise.all(Array.from({ length: 8 }, () => openRaw(port)))
    for (const one of idle) one.send('GET / HTTP/1.1\r\n')
    for (let times = 0; times < 20; times += 1) {
      const client = await openRaw(port)
      client.send(get('/', 'a'))
      const answer = await client.answer()
      t.equal(answer?.status, 200)
      saw(`Connection: ${answer?.headers.get('connection')?.join()}`)
      saw(`${answer?.status}`)
      client.destroy()
    }
    for (const one of idle) one.destroy()
  },
}

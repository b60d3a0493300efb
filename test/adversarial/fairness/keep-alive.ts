import type { Test } from 'tap'
import { readConfig } from '../../../daemon/config/config.ts'
import { startDaemon } from '../../../daemon/daemon.ts'
import { openListener } from '../../../daemon/listener/listener.ts'
import { createLog } from '../../../daemon/telemetry/log.ts'
import { SECOND } from '../../../lib/time.ts'
import { until } from '../../support/daemon.ts'
import type { RawConnection } from '../../support/raw-http.ts'
import { openRaw } from '../../support/raw-http.ts'
import type { Checks } from '../run.ts'

/** Both listeners of a daemon. */
async function openDaemon(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const config = readConfig({ KEYHOOK_DATA_DIR: t.testdir(), KEYHOOK_PORT: '0', ...settings })
  const daemon = await startDaemon(config, createLog('silent'))
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= daemon.stop())
  t.teardown(stop)
  const apps = new URL(daemon.platform.appsHosting?.urlOf('shop') ?? '')
  return { stop, ports: [Number(new URL(daemon.url).port), Number(apps.port)] }
}

const get = (port: number, path = '/healthz'): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`

async function askOver(connection: RawConnection, port: number) {
  connection.send(get(port))
  return connection.answer()
}

/**
 * Asks once, then again over the same connection after a pause, whatever time the answer announces, as a
 * client does that has a time of its own; answers how many of both were answered.
 */
async function askTwice(port: number, pause: number): Promise<number> {
  const connection = await openRaw(port)
  const first = await askOver(connection, port)
  await new Promise((resolve) => setTimeout(resolve, pause))
  const second = await askOver(connection, port)
  connection.destroy()
  return [first, second].filter((answer) => answer?.status === 200).length
}

export const KEEP_ALIVE_CHECKS: Checks = {
  async F05(t, saw) {
    const { ports } = await openDaemon(t)
    for (const port of ports) {
      const connection = await openRaw(port)
      const answer = await askOver(connection, port)
      const [, seconds] = /^timeout=(\d+)$/.exec(String(answer?.headers.get('keep-alive'))) ?? []
      saw(`${seconds} s`)
      t.strictSame(answer?.headers.get('connection'), ['keep-alive'])
      connection.destroy()
    }
  },

  async F06(t, saw) {
    const announced = SECOND
    const listener = await openListener({
      host: '127.0.0.1',
      port: 0,
      setting: 'KEYHOOK_PORT',
      limits: { total: 100, perNetwork: 100 },
      trustedProxies: [],
      notReady: (asked, response) => {
        asked.resume()
        response.end()
      },
      tooMany: (_asked, response) => void response.end(),
      times: { keepAliveTimeout: announced },
    })
    t.teardown(() => listener.close(0))
    // Before, at and a little after the time that the responses announce.
    const pauses = Array.from({ length: 60 }, (_, index) => announced - 300 + 10 * index)
    const answered = await Promise.all(
      pauses.map((pause) => askTwice(listener.address.port, pause)),
    )
    const lost = answered.filter((count) => count !== 2).length
    saw(`${lost} lost`)
  },

  async F07(t, saw) {
    const { stop, ports } = await openDaemon(t, { KEYHOOK_STOP_DELAY: '1' })
    const kept = await Promise.all(ports.map((port) => openRaw(port)))
    for (const [index, port] of ports.entries()) {
      const before = kept[index] && (await askOver(kept[index], port))
      t.strictSame(before?.headers.get('connection'), ['keep-alive'])
    }
    const stopped = stop()
    for (const [index, port] of ports.entries()) {
      const connection = kept[index]
      const last = connection && (await askOver(connection, port))
      t.ok(last, 'a kept connection is answered once more')
      saw(String(last?.headers.get('connection')?.join()))
      t.equal((await connection?.closed())?.length, 0)
    }
    await stopped
  },

  async F08(t, saw) {
    const waiting: (() => void)[] = []
    const listener = await openListener({
      host: '127.0.0.1',
      port: 0,
      setting: 'KEYHOOK_PORT',
      limits: { total: 10, perNetwork: 10 },
      trustedProxies: [],
      notReady: (_asked, response) => {
        waiting.push(() => void response.end('done'))
      },
      tooMany: (_asked, response) => void response.end(),
    })
    const { port } = listener.address
    const connection = await openRaw(port)
    connection.send(get(port))
    await until('it is in progress', () => waiting.length === 1)
    const closed = listener.close(10 * SECOND)
    waiting[0]?.()
    const answer = await connection.answer()
    saw(`${answer?.status}`)
    saw(String(answer?.headers.get('connection')?.join()))
    t.equal(answer?.body.toString(), 'done')
    await closed
  },
}

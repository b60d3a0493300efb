import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { DaemonProcess, Env } from './daemon.ts'
import { startDaemonProcess, until } from './daemon.ts'
import { MULTIPART, beginPouring, bodyOf } from './multipart.ts'
import { transpileTo } from './transpiled.ts'

export const OPERATOR = 'operator-token-of-the-work-crash-test'

export type Row = Readonly<Record<string, unknown>>

/** A daemon that can be killed and started again, beside one account with one app. */
export interface Stage {
  readonly app: string
  ask(method: string, path: string, body?: unknown): Promise<Row>
  upload(name: string, bytes: Uint8Array): Promise<Row>
  /** Sends an upload without its end; resolves once all of it is on its way. */
  uploadHalf(name: string, bytes: Uint8Array): Promise<void>
  /** Kills the daemon, whatever `meanwhile` comes to, starts it again, and lets all work end. */
  killAfter(moment: number | Promise<unknown>, meanwhile: Promise<unknown>): Promise<void>
  /** Asks for work that brings the daemon to a failpoint, where it dies; goes on as `killAfter`. */
  dieAt(failpoint: string, work: () => Promise<unknown>): Promise<void>
  /** Ends the daemon as its operator does. */
  stop(): Promise<void>
}

export async function setTheStage(t: Test, folder: string, env: Env): Promise<Stage> {
  const preload = await transpileTo(join(folder, 'preload'), 'test/crash/work-preload.ts')
  const armed = join(folder, 'failpoint')
  const place = {
    ...env,
    NODE_OPTIONS: `--import=${pathToFileURL(preload).href}`,
    WORK_FAILPOINT: armed,
  }
  let daemon: DaemonProcess = await startDaemonProcess(place)
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const port = new URL(daemon.url).port
  let headers: Record<string, string> = { authorization: `Bearer ${OPERATOR}` }

  async function send(path: string, init: RequestInit): Promise<Row> {
    const response = await fetch(daemon.url + path, init)
    return (await response.json()) as Row
  }
  const ask: Stage['ask'] = (method, path, body) =>
    send(path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const account = await ask('POST', '/v1/accounts', { name: 'Crash' })
  headers = { ...headers, 'keyhook-account': String(account['id']) }
  const app = await ask('POST', '/v1/apps', { template_id: 'blank' })
  const files = `/v1/apps/${String(app['id'])}/files`

  async function comeBack(killed: string): Promise<void> {
    daemon = await startDaemonProcess({ ...place, KEYHOOK_PORT: port })
    await untilOver(stage, killed)
  }

  const stage: Stage = {
    app: String(app['id']),
    ask,
    upload(name, bytes) {
      const body = new FormData()
      body.append('file', new Blob([new Uint8Array(bytes)]), name)
      return send(files, { method: 'POST', headers, body })
    },
    async uploadHalf(filename, bytes) {
      const { host } = new URL(daemon.url)
      const given = { ...headers, ...MULTIPART, host }
      const { socket, pour, answer } = await beginPouring({ baseUrl: daemon.url }, files, given)
      // There is none: the daemon dies before it.
      answer.catch(() => undefined)
      pour(bodyOf([{ name: 'file', filename, content: bytes }], ''))
      await until('all of it is sent', () => socket.writableLength === 0)
      if (socket.bytesRead > 0) throw new Error('it was answered before its end')
    },
    async killAfter(moment, meanwhile) {
      const settled = meanwhile.catch(() => undefined)
      await (typeof moment === 'number'
        ? new Promise((resolve) => setTimeout(resolve, moment))
        : moment)
      await daemon.end('SIGKILL')
      await settled
      await comeBack('a moment')
    },
    async dieAt(failpoint, work) {
      await writeFile(armed, failpoint)
      const { child } = daemon
      const died = child.signalCode === null ? once(child, 'exit') : Promise.resolve()
      const settled = work().catch(() => undefined)
      await until(`it dies at ${failpoint}`, () => child.signalCode !== null, MINUTE)
      await Promise.all([died, settled])
      if (existsSync(armed)) throw new Error(`it died before ${failpoint}`)
      await comeBack(failpoint)
    },
    stop: () => daemon.end('SIGTERM').then(() => undefined),
  }
  return stage
}

export async function listAll({ ask }: Stage, path: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ;) {
    const page = await ask('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100${cursor}`)
    rows.push(...(page['data'] as Row[]))
    if (page['has_more'] !== true) return rows
    cursor = `&cursor=${String(page['next_cursor'])}`
  }
}

const ENDED: readonly unknown[] = ['completed', 'failed', 'canceled', 'processed']

/** Every edit and every file. */
export async function workOf(stage: Stage): Promise<readonly Row[]> {
  const at = `/v1/apps/${stage.app}`
  const lists = await Promise.all([listAll(stage, `${at}/edits`), listAll(stage, `${at}/files`)])
  return lists.flat()
}

/** Each is killed once: what kills its worker again and again is given up. */
async function untilOver(stage: Stage, killed: string): Promise<void> {
  let open: readonly Row[] = []
  const isOver = async (): Promise<boolean> => {
    open = (await workOf(stage)).filter(({ status }) => !ENDED.includes(status))
    return open.length === 0
  }
  await until('all of it has ended', isOver, MINUTE).catch((cause: unknown) => {
    throw new Error(`killed at ${killed}, and left: ${JSON.stringify(open)}`, { cause })
  })
}

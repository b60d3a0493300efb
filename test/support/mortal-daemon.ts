import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { DaemonProcess, Env } from './daemon.ts'
import { startDaemonProcess, until } from './daemon.ts'
import { freePort } from './free-port.ts'

export type Row = Readonly<Record<string, unknown>>

/** Loaded into the daemon before it starts. */
const PRELOAD = new URL('../crash/work-preload.js', import.meta.url).href

const OPERATOR = 'operator-token-of-the-work-crash-test'

/** A daemon that can be killed where its work is, and is started again at the same address. */
export interface MortalDaemon {
  readonly url: string
  /** Of the account for which it is asked. */
  readonly headers: Readonly<Record<string, string>>
  /** Asks the operator's API for the account; rejects while nobody answers. */
  ask(method: string, path: string, body?: unknown): Promise<Row>
  /** Every record of a list. */
  list(path: string): Promise<readonly Row[]>
  /** Kills it, whatever `meanwhile` comes to, and starts it again. */
  killAfter(moment: number | Promise<unknown>, meanwhile: Promise<unknown>): Promise<void>
  /** Asks for work that brings it to a failpoint, where it dies, and starts it again. */
  dieAt(failpoint: string, work: () => Promise<unknown>): Promise<void>
  /** Ends it as its operator does. */
  stop(): Promise<void>
}

/** Starts one that carries out the work of an account of its own. */
export async function startMortalDaemon(t: Test, folder: string, env: Env): Promise<MortalDaemon> {
  const armed = join(folder, 'failpoint')
  const place: Record<string, string> = {
    ...env,
    KEYHOOK_PORT: String(await freePort()),
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    NODE_OPTIONS: `--import=${PRELOAD}`,
    WORK_FAILPOINT: armed,
  }
  let daemon: DaemonProcess = await startDaemonProcess(place)
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  let headers: Record<string, string> = { authorization: `Bearer ${OPERATOR}` }

  async function ask(method: string, path: string, body?: unknown): Promise<Row> {
    const response = await fetch(daemon.url + path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await response.json()) as Row
  }

  const account = await ask('POST', '/v1/accounts', { name: 'Crash' })
  headers = { ...headers, 'keyhook-account': String(account['id']) }

  async function comeBack(): Promise<void> {
    daemon = await startDaemonProcess(place)
  }

  return {
    get url() {
      return daemon.url
    },
    headers,
    ask,
    async list(path) {
      const rows: Row[] = []
      for (let cursor = ''; ;) {
        const page = await ask('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100${cursor}`)
        rows.push(...(page['data'] as Row[]))
        if (page['has_more'] !== true) return rows
        cursor = `&cursor=${String(page['next_cursor'])}`
      }
    },
    async killAfter(moment, meanwhile) {
      const settled = meanwhile.catch(() => undefined)
      await (typeof moment === 'number'
        ? new Promise((resolve) => setTimeout(resolve, moment))
        : moment)
      await daemon.end('SIGKILL')
      await settled
      await comeBack()
    },
    async dieAt(failpoint, work) {
      await writeFile(armed, failpoint)
      const { child } = daemon
      const died = child.signalCode === null ? once(child, 'exit') : Promise.resolve()
      const settled = work().catch(() => undefined)
      await until(`it dies at ${failpoint}`, () => child.signalCode !== null, MINUTE)
      await Promise.all([died, settled])
      if (existsSync(armed)) throw new Error(`it died before ${failpoint}`)
      await comeBack()
    },
    stop: () => daemon.end('SIGTERM').then(() => undefined),
  }
}

import type { Test } from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { Env } from './daemon.ts'
import { until } from './daemon.ts'
import type { MortalDaemon, Row } from './mortal-daemon.ts'
import { startMortalDaemon } from './mortal-daemon.ts'
import { MULTIPART, beginPouring, bodyOf } from './multipart.ts'

/** A daemon that can be killed and started again, beside one account with one app. */
export interface Stage extends Omit<MortalDaemon, 'url' | 'headers'> {
  readonly app: string
  upload(name: string, bytes: Uint8Array): Promise<Row>
  /** Sends an upload without its end; resolves once all of it is on its way. */
  uploadHalf(name: string, bytes: Uint8Array): Promise<void>
}

/** Once it was killed and is back, all work is let end. */
export async function setTheStage(t: Test, folder: string, env: Env): Promise<Stage> {
  const daemon = await startMortalDaemon(t, folder, env)
  const { ask, headers } = daemon
  const app = await ask('POST', '/v1/apps', { template_id: 'blank' })
  const files = `/v1/apps/${String(app['id'])}/files`
  const stage: Stage = {
    ...daemon,
    app: String(app['id']),
    async upload(name, bytes) {
      const body = new FormData()
      body.append('file', new Blob([new Uint8Array(bytes)]), name)
      const response = await fetch(daemon.url + files, { method: 'POST', headers, body })
      return (await response.json()) as Row
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
      await daemon.killAfter(moment, meanwhile)
      await untilOver(stage, 'a moment')
    },
    async dieAt(failpoint, work) {
      await daemon.dieAt(failpoint, work)
      await untilOver(stage, failpoint)
    },
  }
  return stage
}

export const ENDED: readonly unknown[] = ['completed', 'failed', 'canceled', 'processed']

/** Every edit and every file. */
export async function workOf({ app, list }: Stage): Promise<readonly Row[]> {
  const at = `/v1/apps/${app}`
  return (await Promise.all([list(`${at}/edits`), list(`${at}/files`)])).flat()
}

/** Each is killed once: what kills its worker again and again is given up. */
async function untilOver(stage: Stage, killed: string): Promise<void> {
  let open: readonly Row[] = []
  const isOver = async (): Promise<boolean> => {
    open = (await workOf(stage)).filter(({ status }) => !ENDED.includes(status))
    return open.length === 0
  }
  await until('all of it has ended', isOver, 4 * MINUTE).catch((cause: unknown) => {
    throw new Error(`killed at ${killed}, and left: ${JSON.stringify(open)}`, { cause })
  })
}

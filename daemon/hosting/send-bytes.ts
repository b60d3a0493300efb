import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { Log } from '../telemetry/log.ts'
import type { SentForm } from './beacon/pages.ts'
import type { Exchange } from './exchange.ts'
import { begin, isHead, respond, respondPage } from './exchange.ts'
import { createHotFiles } from './hot-files.ts'
import { FAILED } from './pages.ts'
import type { Answer } from './stream-file.ts'
import { createStreamFile } from './stream-file.ts'

/** Sends the bytes of a file: from memory if it is small, else as they are read. */
export type SendBytes = (exchange: Exchange, appId: string, form: SentForm, answer: Answer) => void

/** Responds that a file could not be read, or aborts a response in progress. */
export type FailToSend = (exchange: Exchange, appId: string, sha256: string, cause: unknown) => void

export function createFailToSend(log: Pick<Log, 'error'>): FailToSend {
  return (exchange, app_id, sha256, cause) => {
    log.error({ app_id, sha256, err: cause }, 'a file could not be served')
    if (exchange.response.headersSent) exchange.response.destroy()
    else respondPage(exchange, FAILED, ['Retry-After', '5'])
  }
}

export function createSendBytes(
  bytes: Pick<AppBytes, 'get' | 'open'>,
  failToSend: FailToSend,
): SendBytes {
  const hot = createHotFiles(bytes)
  const streamFile = createStreamFile(bytes)
  return (exchange, appId, form, answer) => {
    const { status, headers, part } = answer
    const { response } = exchange
    if (isHead(exchange)) {
      const length = part === undefined ? form.size : part.end - part.start
      if (begin(exchange, status, headers, length)) response.end()
      return
    }
    const send = (file: Buffer): void => {
      const body = part === undefined ? file : file.subarray(part.start, part.end)
      respond(exchange, status, headers, body)
    }
    if (form.made !== undefined) {
      send(form.made)
      return
    }
    const fail = (cause: unknown): void => failToSend(exchange, appId, form.sha256, cause)
    if (form.splice !== undefined || !hot.takes(form.size)) {
      streamFile(exchange, appId, form, answer).catch(fail)
      return
    }
    const file = hot.peek(form.sha256)
    if (file === undefined) hot.load(appId, form).then(send).catch(fail)
    else send(file)
  }
}

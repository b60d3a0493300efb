import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { Log } from '../telemetry/log.ts'
import type { Form } from './encoding.ts'
import type { Exchange } from './exchange.ts'
import { begin, isHead, respond, respondPage } from './exchange.ts'
import { createHotFiles } from './hot-files.ts'
import { FAILED } from './pages.ts'
import type { Answer } from './pour.ts'
import { createPour } from './pour.ts'

/** Sends the bytes of a file: from memory when it is small and asked for, else as they are read. */
export type SendBytes = (exchange: Exchange, appId: string, form: Form, answer: Answer) => void

export function createSendBytes(
  bytes: Pick<AppBytes, 'get' | 'open'>,
  log: Pick<Log, 'error'>,
): SendBytes {
  const hot = createHotFiles(bytes)
  const pour = createPour(bytes)
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
    const fail = (cause: unknown): void => {
      log.error({ app_id: appId, sha256: form.sha256, err: cause }, 'a file could not be served')
      if (response.headersSent) response.destroy()
      else respondPage(exchange, FAILED, ['Retry-After', '5'])
    }
    if (!hot.takes(form.size)) {
      pour(exchange, appId, form, answer).catch(fail)
      return
    }
    const file = hot.peek(form.sha256)
    if (file === undefined) hot.load(appId, form).then(send).catch(fail)
    else send(file)
  }
}

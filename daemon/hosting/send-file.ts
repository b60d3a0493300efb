import type { ServedFile } from '../../plugins/deploy/contract.ts'
import { judgeConditions } from './conditions.ts'
import type { Form } from './encoding.ts'
import { chooseForm } from './encoding.ts'
import type { Exchange } from './exchange.ts'
import { isHead, respond, respondText } from './exchange.ts'
import type { Found } from './find.ts'
import type { HeaderList } from './headers.ts'
import { cachingOf, describing, varying } from './headers.ts'
import { rangeOf } from './range.ts'
import type { SendBytes } from './send-bytes.ts'
import type { Site } from './site.ts'

/**
 * Answers GET and HEAD with what was found, or with as much of it as is asked for.
 *
 * @param common headers of every answer of the app
 */
export function sendFile(
  sendBytes: SendBytes,
  exchange: Exchange,
  site: Pick<Site, 'app_id' | 'kind'>,
  { file, status, byAccept }: Found,
  common: HeaderList,
): void {
  const vary = varying(file, byAccept)
  const form = chooseForm(file, exchange.request.headers['accept-encoding'])
  if (form === undefined) {
    respondText(exchange, 406, 'There is no form of this file that you accept.', vary)
    return
  }
  const headers = [...common, ...vary, ...cachingOf(site.kind, file.immutable)]
  // What stands in for a missing page has no tag and no parts: nobody asked for it.
  if (status === 404) {
    headers.push(...describing(file, form))
    sendBytes(exchange, site.app_id, form, { status, headers, part: undefined })
    return
  }
  sendFound(sendBytes, exchange, site.app_id, { file, form, headers })
}

interface Chosen {
  readonly file: ServedFile
  readonly form: Form
  readonly headers: HeaderList
}

function sendFound(
  sendBytes: SendBytes,
  exchange: Exchange,
  appId: string,
  { file, form, headers: given }: Chosen,
): void {
  const asked = exchange.request.headers
  const etag = `"${form.sha256}"`
  const headers = [...given, 'ETag', etag]
  const verdict = judgeConditions(asked, etag)
  if (verdict === 304) {
    respond(exchange, 304, headers)
    return
  }
  if (verdict === 412) {
    respondText(exchange, 412, 'This file is not the one that you asked for.')
    return
  }
  headers.push('Accept-Ranges', 'bytes')
  const part = isHead(exchange) ? undefined : rangeOf(asked, etag, form.size)
  if (part === 'unsatisfiable') {
    const range = ['Content-Range', `bytes */${form.size}`, 'Accept-Ranges', 'bytes']
    respondText(exchange, 416, 'This file has no such part.', range)
    return
  }
  headers.push(...describing(file, form))
  if (part !== undefined) {
    headers.push('Content-Range', `bytes ${part.start}-${part.end - 1}/${form.size}`)
  }
  sendBytes(exchange, appId, form, { status: part === undefined ? 200 : 206, headers, part })
}

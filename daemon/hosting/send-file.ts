import type { ServedFile } from '../../plugins/deploy/contract.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { conditionalStatus, rangeOf } from '../http/conditions.ts'
import type { Log } from '../telemetry/log.ts'
import type { SentForm } from './beacon/pages.ts'
import { createBeaconPages, isHtml } from './beacon/pages.ts'
import { chooseForm } from './encoding.ts'
import type { Exchange } from './exchange.ts'
import { isHead, respond, respondText } from './exchange.ts'
import type { Found } from './find.ts'
import type { HeaderList } from './headers.ts'
import { cachingOf, describing, varying } from './headers.ts'
import type { SendBytes } from './send-bytes.ts'
import { createFailToSend, createSendBytes } from './send-bytes.ts'
import type { Site } from './site.ts'

/**
 * @param common headers of every response of the app
 */
export type SendFile = (
  exchange: Exchange,
  site: Pick<Site, 'app_id' | 'kind' | 'manifest'>,
  found: Found,
  common: HeaderList,
) => void

export interface SendFilePorts {
  readonly bytes: Pick<AppBytes, 'get' | 'open'>
  readonly log: Pick<Log, 'error'>
  /** Whether apps are served over https. Default false. */
  readonly isSecure?: boolean
}

/**
 * Responds to GET and HEAD with a file, or the requested part of it. Pages carry the beacon, unless the
 * app's owner opted out.
 */
export function createSendFile({ bytes, log, isSecure = false }: SendFilePorts): SendFile {
  const failToSend = createFailToSend(log)
  const sendBytes = createSendBytes(bytes, failToSend)
  const pages = createBeaconPages(bytes, isSecure)
  return (exchange, site, found, common) => {
    const { file } = found
    const { 'accept-encoding': accepted, 'sec-fetch-dest': destination } = exchange.request.headers
    const form = chooseForm(file, accepted)
    const sent =
      form !== undefined && isHtml(file) && site.manifest.observe !== false
        ? pages.find(site.app_id, file, form, destination, () => leavingOf(exchange))
        : form
    if (!(sent instanceof Promise)) {
      sendForm(sendBytes, exchange, site, found, sent, common)
      return
    }
    sent
      .then((made) => sendForm(sendBytes, exchange, site, found, made, common))
      .catch((cause: unknown) => {
        // A request that the visitor aborted has not failed.
        if (!(cause instanceof VisitorLeft)) failToSend(exchange, site.app_id, file.sha256, cause)
      })
  }
}

class VisitorLeft extends Error {}

/** Aborts when the visitor's connection closes. */
function leavingOf({ response }: Exchange): AbortSignal {
  const left = new AbortController()
  const leave = (): void => left.abort(new VisitorLeft())
  if (response.destroyed) leave()
  else response.once('close', leave)
  return left.signal
}

function sendForm(
  sendBytes: SendBytes,
  exchange: Exchange,
  site: Pick<Site, 'app_id' | 'kind'>,
  { file, status, byAccept }: Found,
  form: SentForm | undefined,
  common: HeaderList,
): void {
  const vary = varying(file, byAccept, form?.byDestination)
  if (form === undefined) {
    respondText(exchange, 406, 'There is no form of this file that you accept.', vary)
    return
  }
  const headers = [...common, ...vary, ...cachingOf(site.kind, file.immutable)]
  // A replacement for a missing page has no tag and no parts: it was not requested.
  if (status === 404) {
    headers.push(...describing(file, form))
    sendBytes(exchange, site.app_id, form, { status, headers, part: undefined })
    return
  }
  sendFound(sendBytes, exchange, site.app_id, { file, form, headers })
}

interface Chosen {
  readonly file: ServedFile
  readonly form: SentForm
  readonly headers: HeaderList
}

function sendFound(
  sendBytes: SendBytes,
  exchange: Exchange,
  appId: string,
  { file, form, headers: given }: Chosen,
): void {
  const conditions = exchange.request.headers
  const etag = `"${form.sha256}"`
  const headers = [...given, 'ETag', etag]
  const verdict = conditionalStatus(conditions, etag)
  if (verdict === 304) {
    respond(exchange, 304, headers)
    return
  }
  if (verdict === 412) {
    respondText(exchange, 412, 'This file is not the one that you asked for.')
    return
  }
  headers.push('Accept-Ranges', 'bytes')
  const part = isHead(exchange) ? undefined : rangeOf(conditions, etag, form.size)
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

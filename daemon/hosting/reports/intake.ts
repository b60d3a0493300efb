import type { IncomingMessage } from 'node:http'
import { JsonError, parseJson } from '../../../lib/internal/json.ts'
import { parseAuthority } from '../host.ts'
import type { BrowserReport } from '../site.ts'

/** What browsers send is cut off beyond this, as they do themselves. */
const MAX_BODY = 64 * 1024
/** Bodies that are read at once; more are not waited for. */
const MAX_READING = 256

/** Reads what a body of a media type tells; nothing when it is not what is sent there. */
export type ReadReports = (type: string, value: unknown) => readonly BrowserReport[]

export type Intake = (
  request: IncomingMessage,
  read: ReadReports,
  done: (reports: readonly BrowserReport[]) => void,
) => void

/**
 * Takes in what pages of an app tell of it. Whatever it is, `done` is called once: nobody learns what
 * was made of it. What pages of others send, what is too long, and what comes while too much is being
 * read, is not looked at.
 */
export function createIntake(): Intake {
  let reading = 0
  return (request, read, done) => {
    const { headers } = request
    const isPlain = headers['content-encoding'] === undefined
    const isShort = Number(headers['content-length'] ?? 0) <= MAX_BODY
    if (!isOfOwnPage(request) || !isPlain || !isShort || reading >= MAX_READING) {
      done([])
      return
    }
    reading += 1
    collect(request, (body) => {
      reading -= 1
      const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
      done(read(type, parse(body)))
    })
  }
}

/** Undefined for what is no JSON. */
function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}

/** The text of a body; empty when it is too long, or was cut off. */
function collect(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  function end(body: string): void {
    request.off('data', take).off('end', finish).off('close', cutOff)
    done(body)
  }
  function take(chunk: Buffer): void {
    size += chunk.length
    chunks.push(chunk)
    if (size > MAX_BODY) {
      request.pause()
      end('')
    }
  }
  const finish = (): void => end(Buffer.concat(chunks).toString())
  const cutOff = (): void => end('')
  request.on('data', take).on('end', finish).on('close', cutOff)
}

/** Browsers say where a request comes from; who says nothing is no page. */
function isOfOwnPage({ headers }: IncomingMessage): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = headers
  if (origin === undefined && site === undefined) return false
  if (site !== undefined && site !== 'same-origin') return false
  return origin === undefined || hostOf(origin) === parseAuthority(host)
}

function hostOf(origin: string): string | undefined {
  const [, authority = ''] = /^https?:\/\/(.+)$/.exec(origin) ?? []
  return parseAuthority(authority)
}

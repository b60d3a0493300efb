import { createHash } from 'node:crypto'
import type { ToldErrors } from '../../../plugins/platform/contract/error-groups.ts'
import type { BrowserReport } from '../../hosting/site.ts'
import { beginningOf, redact, wellFormed } from './redact.ts'

const MAX_TITLE = 200
const MAX_MESSAGE = 1000
const MAX_STACK = 4000
const MAX_URL = 1024
/** Maximum characters read of each text. */
const MAX_READ = 8192

/** Stack frames that identify an error group: below them the callers differ. */
const TOP_FRAMES = 3
const MAX_FRAME = 300

type Described = Pick<ToldErrors, 'fingerprint' | 'type' | 'title' | 'culprit' | 'sample'>

/**
 * The content of a report without data of the visitor, and a fingerprint that is equal for every occurrence of
 * the error.
 */
export function describeError(report: BrowserReport): Described {
  const message = tidy(report.message, MAX_MESSAGE)
  const stack = report.stack === null ? null : tidy(report.stack, MAX_STACK)
  const url = tidy(report.url, MAX_URL)
  const frames = stack === null ? [] : framesOf(stack)
  const [firstLine = ''] = message.split('\n', 1)
  const title = firstLine.trim() === '' ? report.type : wellFormed(firstLine, MAX_TITLE)
  return {
    fingerprint: fingerprintOf(report.type, message, frames),
    type: report.type,
    title,
    culprit: wellFormed(culpritOf(frames, url), MAX_FRAME),
    sample: { message, stack, url },
  }
}

function tidy(text: string, most: number): string {
  return wellFormed(redact(beginningOf(text, MAX_READ)), most)
}

interface Frame {
  /** Name of the function; empty without one. */
  readonly call: string
  /** Without its host, line and column. */
  readonly path: string
}

/** The top frames of a stack, as V8 prints it or as others do: `at load (app.js:1:2)`, `load@app.js:1:2`. */
function framesOf(stack: string): readonly Frame[] {
  const frames: Frame[] = []
  for (const line of stack.split('\n')) {
    const frame = readFrame(line.slice(0, MAX_FRAME).trim())
    if (frame !== undefined) frames.push(frame)
    if (frames.length === TOP_FRAMES) break
  }
  return frames
}

function readFrame(line: string): Frame | undefined {
  const end = line.search(/:\d+:\d+\)?$/)
  if (end < 0) return undefined
  const head = line.slice(0, end)
  const between = line.startsWith('at ')
    ? Math.max(head.lastIndexOf(' '), head.lastIndexOf('('))
    : head.indexOf('@')
  const call = head.slice(0, between + 1).replace(/^at (async )?/, '')
  return {
    call: call.replace(/[\s(@]+$/, ''),
    path: withoutOrigin(head.slice(between + 1)),
  }
}

function withoutOrigin(address: string): string {
  return address.replace(/^[a-z-]+:\/\/[^/]*/i, '')
}

function culpritOf([top]: readonly Frame[], url: string): string {
  if (top === undefined) return withoutOrigin(url)
  return top.call === '' ? top.path : `${top.call} (${top.path})`
}

function fingerprintOf(type: string, message: string, frames: readonly Frame[]): string {
  const same = [type, normalised(message), ...frames.map(({ call, path }) => [call, stable(path)])]
  return createHash('sha256').update(JSON.stringify(same)).digest('hex')
}

/** Replaces what varies between occurrences: quoted text, identifiers and numbers. */
function normalised(message: string): string {
  return message
    .replaceAll(/"[^"\n]*"|`[^`\n]*`|„[^“\n]*“|(?<!\w)'[^'\n]*'(?!\w)/g, '""')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '<id>')
    .replaceAll(/\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b/gi, '<hex>')
    .replaceAll(/\d+/g, '<n>')
}

/** A file's path without content hashes, which differ after each build. */
function stable(path: string): string {
  return path
    .replaceAll(/(?<=[-.])(?=[\w-]*[\dA-Z])[\w-]{8,}(?=\.\w+$)/g, '<mark>')
    .replaceAll(/\d+/g, '<n>')
}

import type { Answer, Question } from './ask.ts'
import type { Body, Held } from './body.ts'
import { digestOf } from './body.ts'
import type { CyclesLedger } from './invariants.ts'
import { FILM, numberOf, releaseOf } from './releases.ts'
import type { State } from './timeline.ts'

/** What a visitor asked for, and what it held then. */
export interface Asked extends Question {
  /** The file that the path names. */
  readonly file: string
  /** The release that alone has a file of this name; undefined for a name that all may have. */
  readonly of: number | undefined
  /** What it asked whether it is live. */
  readonly held?: Held
  readonly part?: Part
}

/** A part of a file, without the byte at its end; with what is held of the rest, if anything is. */
export interface Part {
  readonly start: number
  readonly end: number
  readonly held: Held | undefined
}

export interface Judged {
  readonly asked: Asked
  readonly answer: Answer
  readonly body: Body
}

/** Holds an answer against every state that was while it was under way. */
type Judging = (judged: Judged, states: readonly State[], check: CyclesLedger['check']) => void

/** Whether a file is found while the address serves this. */
function serves({ content, earlier }: State, file: string, of: number | undefined): boolean {
  if (of !== undefined) return content === of || earlier.includes(of)
  return content !== null && releaseOf(content).has(file)
}

/** Whether a file of this release may be answered. */
function isLive(states: readonly State[], { file, of }: Asked, number: number | undefined) {
  return of === undefined
    ? states.some(({ content }) => content !== null && content === number)
    : of === number && states.some((state) => serves(state, file, of))
}

/** How long what was found may be kept, and for whom. */
const judgeCaching: Judging = ({ asked: { file, of }, answer: { headers } }, _, check) => {
  const { 'cache-control': caching = '', vary = '' } = headers
  const expected =
    of === undefined ? 'public, max-age=0, must-revalidate' : 'public, max-age=31536000, immutable'
  const isSound = caching === expected && /accept-encoding/i.test(vary) === (file !== FILM)
  check('caching.right', isSound, () => `${caching}; ${vary}`)
}

const judgeWhole: Judging = (judged, states, check) => {
  const { asked, answer, body } = judged
  const { file, of, held, part } = asked
  const { headers } = answer
  const { plain, number = 0 } = body
  const isWhole =
    headers['content-length'] === String(answer.body.length) &&
    headers.etag === `"${digestOf(answer.body)}"` &&
    plain !== undefined &&
    releaseOf(number).get(file)?.sha256 === digestOf(plain)
  check('release.whole', isWhole, () => `it says that it is of ${number}`)
  check('release.live', isLive(states, asked, number), () => `it is of ${number}`)
  check(of === undefined ? 'asset.found' : 'tab.kept', true, () => '')
  judgeCaching(judged, states, check)
  const isSurelyLive = (one: Held): boolean =>
    of !== undefined || states.every(({ content }) => content === one.number)
  if (held !== undefined) check('unchanged.told', !isSurelyLive(held), () => 'it was sent again')
  if (part === undefined) return
  const isAsked = part.held === undefined || isSurelyLive(part.held)
  check('part.true', !isAsked, () => 'all of it was sent')
}

const judgeHead: Judging = (judged, states, check) => {
  const { asked, answer } = judged
  const { etag = '', 'content-length': length } = answer.headers
  const among = states.flatMap(({ content, earlier }) => [content ?? 0, ...earlier])
  const number = numberOf(asked.file, etag.slice(1, -1), new Set(among))
  check('release.live', isLive(states, asked, number), () => `${etag} is of ${String(number)}`)
  const size = number === undefined ? undefined : releaseOf(number).get(asked.file)?.bytes.length
  const isWhole = length === String(size) && answer.body.length === 0
  check('release.whole', isWhole, () => `${String(size)} bytes are in ${String(number)}`)
  judgeCaching(judged, states, check)
}

const judgePart: Judging = (judged, states, check) => {
  const { asked, answer } = judged
  const { etag = '', 'content-range': range, 'content-length': length } = answer.headers
  const live = states.flatMap(({ content }) => content ?? [])
  const number = numberOf(asked.file, etag.slice(1, -1), live)
  const all = number === undefined ? undefined : releaseOf(number).get(asked.file)?.bytes
  const { start = 0, end = 0, held } = asked.part ?? {}
  const isTrue =
    all !== undefined &&
    answer.body.equals(all.subarray(start, end)) &&
    length === String(end - start) &&
    range === `bytes ${start}-${end - 1}/${all.length}` &&
    (held === undefined || held.etag === etag)
  check('part.true', isTrue, () => `${etag} is of ${String(number)}, ${String(range)}`)
  judgeCaching(judged, states, check)
}

const judgeUnchanged: Judging = (judged, states, check) => {
  const { asked, answer } = judged
  const { held } = asked
  const isTrue =
    held !== undefined &&
    answer.headers.etag === held.etag &&
    answer.body.length === 0 &&
    isLive(states, asked, held.number)
  check('unchanged.true', isTrue, () => `${String(held?.number)} was held`)
  check('unchanged.told', true, () => '')
  judgeCaching(judged, states, check)
}

const judgeMissing: Judging = ({ asked, answer, body }, states, check) => {
  const { file, of, method } = asked
  const missing = states.filter((state) => !serves(state, file, of))
  check(of === undefined ? 'asset.found' : 'tab.kept', missing.length > 0, () => 'it is missing')
  const { headers } = answer
  check('caching.right', headers.etag === undefined, () => 'what is missing has a tag')
  if (method === 'HEAD') return
  const { number, plain, isOffline } = body
  const own = number === undefined ? undefined : releaseOf(number).get('404.html')
  const isWhole = isOffline || (plain !== undefined && own?.sha256 === digestOf(plain))
  check('release.whole', isWhole, () => 'what says so is of nobody')
  const isTrue = missing.some(({ content }) => content === (isOffline ? null : number))
  check('release.live', isTrue, () => `${isOffline ? 'nobody' : String(number)} says so`)
}

/** By what was asked and how it was answered; whatever else is answered is wrong. */
export const JUDGINGS: Readonly<Record<string, Judging>> = {
  'GET 200': judgeWhole,
  'GET 206': judgePart,
  'GET 304': judgeUnchanged,
  'GET 404': judgeMissing,
  'HEAD 200': judgeHead,
  'HEAD 404': judgeMissing,
}

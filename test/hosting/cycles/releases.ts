import { createHash } from 'node:crypto'

/** A file of a release, as it must be served. */
export interface ReleaseFile {
  readonly bytes: Buffer
  /** As it is written; a page is served with the beacon. */
  readonly source: string
  readonly sha256: string
  /** Its name changes with its content. */
  readonly isFingerprinted: boolean
  /** Kept in smaller forms too. */
  readonly isCompressed: boolean
}

/** By path, without a slash at the beginning. */
export type Release = ReadonlyMap<string, ReleaseFile>

/** Too long to be kept in memory: it is read as it is sent. */
const FILM_LINES = 1500
const LINES = 40

const DOCTYPE = '<!doctype html>\n'
/** What a page is served with before anything of its own. */
const BEACON = '<script src="/_p/obs.js"></script>'

export const EVERY_SECOND = 'data/even.json'
export const FILM = 'film.bin'

/** What every release has under the same name. */
export const CHANGING = ['index.html', 'site.js', 'site.css', FILM] as const

const digest = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

/** Turns between digits and letters, as bundlers' fingerprints do. */
const markOf = (name: string, number: number): string =>
  `4f7a${digest(`${name} ${number}`).slice(0, 8)}`

/** Paths of the files whose names are of one release alone. */
export function fingerprintedOf(number: number): readonly string[] {
  return [
    `assets/app-${markOf('app', number)}.js`,
    `assets/style-${markOf('style', number)}.css`,
    `assets/chunk-${markOf('chunk', number)}.js`,
  ]
}

const lines = (count: number, number: number, path: string): string =>
  Array.from({ length: count }, (_, at) => digest(`${path} ${number} ${at}`)).join('\n')

/** Says of which release it is, and nothing of it is in another. */
function textOf(path: string, number: number): string {
  const count = path === FILM ? FILM_LINES : LINES
  const body = `release ${number}\n${lines(count, number, path)}\n`
  if (path === 'index.html') {
    const named = fingerprintedOf(number).map((asset) => `<link href="/${asset}">`)
    return `${DOCTYPE}${named.join('\n')}\n<pre>${body}</pre>\n`
  }
  return path.endsWith('.html') ? `${DOCTYPE}<pre>${body}</pre>\n` : `/* ${body}*/\n`
}

function pathsOf(number: number): readonly string[] {
  const some = number % 2 === 0 ? [EVERY_SECOND] : []
  return [...CHANGING, '404.html', ...some, ...fingerprintedOf(number)]
}

function makeRelease(number: number): Release {
  const fingerprinted = new Set(fingerprintedOf(number))
  return new Map(
    pathsOf(number).map((path) => {
      const source = textOf(path, number)
      const bytes = Buffer.from(source.replace(DOCTYPE, DOCTYPE + BEACON))
      const isFingerprinted = fingerprinted.has(path)
      const isCompressed = path !== FILM
      return [path, { bytes, source, sha256: digest(bytes), isFingerprinted, isCompressed }]
    }),
  )
}

/** Beyond what a run asks about at one time. */
const KEPT = 60
const made = new Map<number, Release>()

/** The release whose every file bears this number. */
export function releaseOf(number: number): Release {
  const known = made.get(number) ?? makeRelease(number)
  made.delete(number)
  made.set(number, known)
  for (const oldest of made.keys()) {
    if (made.size <= KEPT) break
    made.delete(oldest)
  }
  return known
}

/** The number that a text says; undefined for what is of no release. */
export function numberIn(text: string): number | undefined {
  const [, number] = /release (\d+)\n/.exec(text.slice(0, 2000)) ?? []
  return number === undefined ? undefined : Number(number)
}

/** Which release a file that is served as it is belongs to, by its digest. */
export function numberOf(
  path: string,
  sha256: string,
  among: Iterable<number>,
): number | undefined {
  for (const number of among) if (releaseOf(number).get(path)?.sha256 === sha256) return number
  return undefined
}

type Operation = Readonly<Record<string, string>>

/** What makes a tree of one release into that of another. */
export function operationsFor(number: number, before: readonly string[]): readonly Operation[] {
  const release = releaseOf(number)
  const gone = before.filter((path) => !release.has(path))
  return [
    ...gone.map((path) => ({ op: 'delete', path })),
    ...[...release].map(([path, { source }]) => ({
      op: 'write',
      path,
      content: source,
    })),
  ]
}

/** The location of a search in a text, and its replacement. */
export interface Location {
  readonly start: number
  readonly end: number
  /** As given, or adapted to the indentation and line ends of the text. */
  readonly replace: string
}

export type LocationResult =
  | { readonly ok: true; readonly location: Location }
  /** The first lines, from 0, of all matches when there are several. */
  | { readonly ok: false; readonly lines: readonly number[] }

/** Longer searches are refused, so that no answer blocks the process: FILE is for those. */
const MAX_LINES = 400
/** Matches that are counted before the search is ambiguous. */
const MAX_MATCHES = 10

type Finder = (text: string, search: string, replace: string) => readonly Location[]

/** The first that finds anything decides; several matches are an error, not a guess. */
const FINDERS: readonly Finder[] = [
  findLines((line) => line),
  findLines((line) => line.trimEnd()),
  findWithin,
  findLines((line) => line.trim(), indented),
]

/**
 * Finds the location of a search: lines as written, then without trailing blanks, then a part of a line, then
 * without leading blanks, if all lines differ by the same indentation.
 */
export function findLocation(text: string, search: string, replace: string): LocationResult {
  if (search.trim() === '' || search.split('\n').length > MAX_LINES) {
    return { ok: false, lines: [] }
  }
  for (const find of FINDERS) {
    const locations = find(text, search, replace)
    const [location] = locations
    if (location === undefined) continue
    if (locations.length === 1) return { ok: true, location }
    return { ok: false, lines: locations.map(({ start }) => lineOf(text, start)) }
  }
  return { ok: false, lines: [] }
}

type Adapt = (
  meant: readonly string[],
  searched: readonly string[],
  replace: string,
) => string | undefined

/** Finds whole lines that are equal after `reading`; `adapt` fits the replacement, or rejects the match. */
function findLines(
  reading: (line: string) => string,
  adapt: Adapt = (_meant, _searched, replace) => replace,
): Finder {
  return (text, search, replace) => {
    const [lines, searched] = [text.split('\n'), search.split('\n')]
    const [read, wanted] = [lines.map(reading), searched.map(reading)]
    const locations: Location[] = []
    let start = 0
    for (const [at, line] of lines.entries()) {
      if (locations.length === MAX_MATCHES) break
      if (wanted.every((one, index) => read[at + index] === one)) {
        const meant = lines.slice(at, at + searched.length)
        const adapted = adapt(meant, searched, replace)
        if (adapted !== undefined) locations.push(locationOf(text, start, meant, adapted))
      }
      start += line.length + 1
    }
    return locations
  }
}

/** Replacing whole lines by nothing removes their line end too. */
function locationOf(
  text: string,
  start: number,
  meant: readonly string[],
  replace: string,
): Location {
  const end = start + meant.join('\n').length
  if (replace === '') return { start, end: Math.min(end + 1, text.length), replace }
  const isWindows = meant.every((line) => line.endsWith('\r'))
  return { start, end, replace: isWindows ? withReturns(replace) : replace }
}

/** Every line with its carriage return, the last one's line feed being the text's own. */
function withReturns(replace: string): string {
  return `${replace.replace(/\r$/, '').replaceAll(/\r?\n/g, '\r\n')}\r`
}

/** A search that is a part of lines. */
function findWithin(text: string, search: string, replace: string): readonly Location[] {
  const locations: Location[] = []
  for (let start = text.indexOf(search); start >= 0; start = text.indexOf(search, start + 1)) {
    if (locations.length === MAX_MATCHES) break
    locations.push({ start, end: start + search.length, replace })
  }
  return locations
}

/** The replacement with the indentation of the text; undefined unless all lines differ alike. */
function indented(
  meant: readonly string[],
  searched: readonly string[],
  replace: string,
): string | undefined {
  const first = searched.findIndex((line) => line.trim() !== '')
  const [has, wrote] = [blanksOf(meant[first] ?? ''), blanksOf(searched[first] ?? '')]
  const shorter = Math.min(has.length, wrote.length)
  const more = has.slice(0, has.length - shorter)
  const less = wrote.slice(0, wrote.length - shorter)
  const shift = (line: string): string | undefined => {
    if (line.trim() === '') return line
    return line.startsWith(less) ? more + line.slice(less.length) : undefined
  }
  const isAlike = searched.every((line, at) => shift(line)?.trimEnd() === meant[at]?.trimEnd())
  const shifted = replace.split('\n').map(shift)
  return isAlike && !shifted.includes(undefined) ? shifted.join('\n') : undefined
}

function blanksOf(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? ''
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length - 1
}

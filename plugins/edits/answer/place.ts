/** The one place of a text that a search means, and what to put there. */
export interface Place {
  readonly start: number
  readonly end: number
  /** As it was given, or set to the indentation and the line ends that the text has there. */
  readonly replace: string
}

export type PlaceResult =
  | { readonly ok: true; readonly place: Place }
  /** The first lines, from 0, of the places that fit, when more than one does. */
  | { readonly ok: false; readonly lines: readonly number[] }

/** Longer searches are not looked for, so that no answer can keep the process busy: FILE is for those. */
const MOST_LINES = 400
/** How many places are told apart before the search counts as ambiguous. */
const MOST_PLACES = 10

type Finder = (text: string, search: string, replace: string) => readonly Place[]

/** The first that finds anything decides: among several places, none is guessed. */
const FINDERS: readonly Finder[] = [
  findLines((line) => line),
  findLines((line) => line.trimEnd()),
  findWithin,
  findLines((line) => line.trim(), indented),
]

/**
 * Finds the place that a search means: lines as written, then whatever blanks they end with, then a
 * part of a line, then whatever blanks lines begin with, as long as all have the same more or less.
 */
export function findPlace(text: string, search: string, replace: string): PlaceResult {
  if (search.trim() === '' || search.split('\n').length > MOST_LINES) {
    return { ok: false, lines: [] }
  }
  for (const find of FINDERS) {
    const places = find(text, search, replace)
    const [place] = places
    if (place === undefined) continue
    if (places.length === 1) return { ok: true, place }
    return { ok: false, lines: places.map(({ start }) => lineOf(text, start)) }
  }
  return { ok: false, lines: [] }
}

type Adapt = (
  meant: readonly string[],
  searched: readonly string[],
  replace: string,
) => string | undefined

/** Finds whole lines that read alike; `adapt` fits the reply to them, or says that they are not meant. */
function findLines(
  reading: (line: string) => string,
  adapt: Adapt = (_meant, _searched, replace) => replace,
): Finder {
  return (text, search, replace) => {
    const [lines, searched] = [text.split('\n'), search.split('\n')]
    const [read, wanted] = [lines.map(reading), searched.map(reading)]
    const places: Place[] = []
    let start = 0
    for (const [at, line] of lines.entries()) {
      if (places.length === MOST_PLACES) break
      if (wanted.every((one, index) => read[at + index] === one)) {
        const meant = lines.slice(at, at + searched.length)
        const adapted = adapt(meant, searched, replace)
        if (adapted !== undefined) places.push(placeOf(text, start, meant, adapted))
      }
      start += line.length + 1
    }
    return places
  }
}

/** Replacing whole lines by nothing takes their line end with them. */
function placeOf(text: string, start: number, meant: readonly string[], replace: string): Place {
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
function findWithin(text: string, search: string, replace: string): readonly Place[] {
  const places: Place[] = []
  for (let start = text.indexOf(search); start >= 0; start = text.indexOf(search, start + 1)) {
    if (places.length === MOST_PLACES) break
    places.push({ start, end: start + search.length, replace })
  }
  return places
}

/** The reply with the indentation of the text; undefined when the lines do not all differ alike. */
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

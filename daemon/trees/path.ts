/** Why a path names no file of an app, each as its caller sees it. */
export const PATH_FAULTS = {
  empty: 'A path names a file.',
  too_long: 'A path has at most 200 bytes, and each of its names at most 100.',
  too_deep: 'A path has at most 12 names.',
  absolute: 'A path begins with a name, not with / or a drive.',
  backslash: 'Names in a path are separated by /, and \\ stands in none.',
  traversal: 'A path holds no . and no .. and no empty name.',
  control_character: 'A path holds no control characters, and none that change how it is read.',
  not_normalized: 'A path is written in Unicode normal form C.',
  hidden: 'No name in a path begins with a dot.',
  reserved: 'A name in the path is reserved on some systems, or ends with a dot or a blank.',
} as const

export type PathFault = keyof typeof PATH_FAULTS

const MAX_BYTES = 200
const MAX_NAME_BYTES = 100
const MAX_DEPTH = 12

/** C0 and C1, what joins, hides or turns text around, and halves of characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Devices of Windows, with or without an extension; what no name may hold there; blanks it would drop. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|[<>:"|?*]|[. ]$|^ /i

/** Of `UNSEEN`, what validators of every language know. */
const CONTROL =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb'
const IN_NAME = `[^${CONTROL}/\\\\<>:"|?*]`
const AT_EDGE = `[^${CONTROL}/\\\\<>:"|?* .]`
/** One character, or more of which the last is no dot or blank; no dot or blank is the first. */
const NAME = `${AT_EDGE}(?:${IN_NAME}{0,98}${AT_EDGE})?`

/**
 * As much of `judgePath` as a pattern can say: bytes, normal forms and names of devices are judged by the
 * daemon alone.
 */
export const PATH_SCHEMA = {
  pattern: `^${NAME}(?:/${NAME}){0,${MAX_DEPTH - 1}}$`,
  maxLength: MAX_BYTES,
} as const

/**
 * What is wrong with the path of an app's file; undefined when nothing is.
 *
 * A path is judged as it is, never mended: `a//b` and `./a` name nothing.
 */
export function judgePath(path: string): PathFault | undefined {
  if (path === '') return 'empty'
  if (UNSEEN.test(path)) return 'control_character'
  if (path.includes('\\')) return 'backslash'
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'absolute'
  if (path.normalize('NFC') !== path) return 'not_normalized'
  if (Buffer.byteLength(path) > MAX_BYTES) return 'too_long'
  const names = path.split('/')
  if (names.length > MAX_DEPTH) return 'too_deep'
  for (const name of names) {
    const fault = judgeName(name)
    if (fault !== undefined) return fault
  }
  return undefined
}

function judgeName(name: string): PathFault | undefined {
  if (name === '' || name === '.' || name === '..') return 'traversal'
  if (name.startsWith('.')) return 'hidden'
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return 'too_long'
  return RESERVED.test(name) ? 'reserved' : undefined
}

/**
 * What two paths have in common that some file system could not keep apart: those that differ in case
 * alone, or in characters that stand for the same.
 */
export function foldPath(path: string): string {
  // Normal forms leave ASCII as it is; the check is much cheaper than they are.
  if (ASCII.test(path)) return path.toUpperCase()
  return path.normalize('NFKC').toLowerCase().toUpperCase().normalize('NFKC')
}

const ASCII = /^\p{ASCII}*$/u

/** Every folder that a path goes through, the outermost first. */
export function foldersOf(path: string): readonly string[] {
  const names = path.split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}

/** Faults of paths, with their public messages. */
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

/** C0 and C1, characters that join, hide or reorder text, and lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** On Windows: device names, forbidden characters, and dots and blanks that it drops. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|[<>:"|?*]|[. ]$|^ /i

/** The part of `UNSEEN` that validators of every language know. */
const CONTROL =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb'
const IN_NAME = `[^${CONTROL}/\\\\<>:"|?*]`
const AT_EDGE = `[^${CONTROL}/\\\\<>:"|?* .]`
/** One or more characters; the first and the last are neither a dot nor a blank. */
const NAME = `${AT_EDGE}(?:${IN_NAME}{0,98}${AT_EDGE})?`

/**
 * The part of `judgePath` that a pattern can express: the daemon alone checks bytes, normal forms and device
 * names.
 */
export const PATH_SCHEMA = {
  pattern: `^${NAME}(?:/${NAME}){0,${MAX_DEPTH - 1}}$`,
  maxLength: MAX_BYTES,
} as const

/**
 * The fault of a path of an app's file; undefined for a valid path.
 *
 * Paths are never corrected: `a//b` and `./a` are invalid.
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
 * A key that is equal for paths that some file system cannot distinguish: those that differ only in case or
 * in equivalent characters.
 */
export function foldPath(path: string): string {
  // Normal forms do not change ASCII, and the check is much cheaper.
  if (ASCII.test(path)) return path.toUpperCase()
  return path.normalize('NFKC').toLowerCase().toUpperCase().normalize('NFKC')
}

const ASCII = /^\p{ASCII}*$/u

/** Folders of a path, the outermost first. */
export function foldersOf(path: string): readonly string[] {
  const names = path.split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}

import {
  BOOLEAN,
  COUNT,
  declareArguments,
  MAP,
  NAME,
  optional,
  recordOf,
  TEXT,
} from '../../lib/internal/arguments.ts'
import { DeployError } from './errors.ts'
import { hasFingerprint, isServed, mediaOf } from './media.ts'

/** Encodings in which a file may be kept beside itself, the one that is preferred first. */
export const ENCODINGS = ['br', 'gzip'] as const

export type Encoding = (typeof ENCODINGS)[number]

/** Bytes of an app, by their digest. */
export interface Kept {
  /** Lower-case hex. */
  readonly sha256: string
  readonly size: number
}

/** A file as it is served. */
export interface ServedFile extends Kept {
  readonly path: string
  /** Of the answer, with its charset. */
  readonly type: string
  /** Its name changes with its content: it may be kept by browsers for ever. */
  readonly immutable: boolean
  /** Smaller forms of it, under digests of their own. */
  readonly encoded: Readonly<Partial<Record<Encoding, Kept>>>
}

/** What a release serves. It never changes, and is kept among the app's bytes under its own digest. */
export interface Manifest {
  /** By path, without a slash at the beginning. */
  readonly files: ReadonlyMap<string, ServedFile>
  /** Paths that name no file are answered with index.html, for apps that route by themselves. */
  readonly spa: boolean
  /** False when the app's configuration says `observe: off`: its pages are served without the error beacon. */
  readonly observe?: boolean
}

type Row = readonly [
  path: string,
  sha256: string,
  size: number,
  type: string,
  immutable: 0 | 1,
  encoded: readonly (readonly [encoding: Encoding, sha256: string, size: number])[],
]

/** Whoever serves a release reads it whole. 10,000 files fit, with both of their forms and paths of 140 bytes. */
const MOST_PRINTED = 4 * 1_048_576

const readPrinted = declareArguments('printManifest', {
  manifest: recordOf({ files: MAP, spa: BOOLEAN, observe: optional(BOOLEAN) }),
})
const readText = declareArguments('readManifest', { text: TEXT })

/**
 * The text by which a manifest is kept: equal ones have the same, whatever the order they were made in.
 *
 * @throws DeployError `release_too_large` for more than 4 MiB
 */
export function printManifest(...args: readonly [manifest: Manifest]): string {
  readPrinted(args)
  const [{ files, spa, observe }] = args
  const rows = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => toRow(file))
  const text = JSON.stringify({
    version: 1,
    spa,
    ...(observe === false && { observe }),
    files: rows,
  })
  const size = Buffer.byteLength(text)
  if (size > MOST_PRINTED) throw new DeployError('release_too_large', { internal: `${size} bytes` })
  return text
}

function toRow({ path, sha256, size, type, immutable, encoded }: ServedFile): Row {
  const forms = ENCODINGS.flatMap((encoding) => {
    const kept = encoded[encoding]
    return kept === undefined ? [] : [[encoding, kept.sha256, kept.size] as const]
  })
  return [path, sha256, size, type, immutable ? 1 : 0, forms]
}

/** @throws TypeError for what `printManifest` never made */
export function readManifest(...args: readonly [text: string]): Manifest {
  readText(args)
  const [text] = args
  const { version, spa, observe, files } = JSON.parse(text) as {
    readonly version: number
    readonly spa: boolean
    readonly observe?: boolean
    readonly files: readonly Row[]
  }
  if (version !== 1) throw new TypeError(`a manifest of version ${String(version)} is not known`)
  const types = new Map<string, string>()
  const served = new Map(files.map((row) => [row[0], toFile(row, types)]))
  return { files: served, spa, ...(observe === false && { observe }) }
}

const NO_FORMS: ServedFile['encoded'] = {}

/** @param types that were read before: a few stand in thousands of rows, and what is read is kept */
function toFile(
  [path, sha256, size, read, immutable, forms]: Row,
  types: Map<string, string>,
): ServedFile {
  const type = types.get(read) ?? read
  types.set(type, type)
  const encoded = Object.fromEntries(
    forms.map(([encoding, digest, length]) => [encoding, { sha256: digest, size: length }]),
  )
  return {
    path,
    sha256,
    size,
    type,
    immutable: immutable === 1,
    encoded: forms.length === 0 ? NO_FORMS : encoded,
  }
}

const readFile = declareArguments('plainManifest', {
  'a file': recordOf({ path: NAME, sha256: NAME, size: COUNT }),
})

const readPlain = declareArguments('plainManifest', {
  files: {
    allowed: 'an iterable of files',
    accepts: (value) => typeof value === 'object' && value !== null && Symbol.iterator in value,
  },
  config: MAP,
})

/**
 * What is served of an app's files as they are: nothing is compressed.
 *
 * @param files each is named once
 */
export function plainManifest(
  ...args: readonly [
    files: Iterable<Kept & { readonly path: string }>,
    config: ReadonlyMap<string, string>,
  ]
): Manifest {
  readPlain(args)
  const [files, config] = args
  const served = new Map<string, ServedFile>()
  for (const file of files) {
    readFile([file])
    const { path, sha256, size } = file
    if (!isServed(path)) continue
    const { type } = mediaOf(path)
    served.set(path, { path, sha256, size, type, immutable: hasFingerprint(path), encoded: {} })
  }
  const observed = config.get('observe') === 'off' ? { observe: false } : {}
  return { files: served, spa: config.get('spa_fallback') === 'true', ...observed }
}

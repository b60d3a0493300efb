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

/** Encodings of stored compressed files, the preferred one first. */
export const ENCODINGS = ['br', 'gzip'] as const

export type Encoding = (typeof ENCODINGS)[number]

/** Stored bytes of an app. */
export interface Kept {
  /** Lower-case hex. */
  readonly sha256: string
  readonly size: number
}

/** A served file. */
export interface ServedFile extends Kept {
  readonly path: string
  /** Content type, with its charset. */
  readonly type: string
  /** Whether its name changes with its content, so that browsers may cache it forever. */
  readonly immutable: boolean
  /** Compressed files, under digests of their own. */
  readonly encoded: Readonly<Partial<Record<Encoding, Kept>>>
}

/** The files of a release. It never changes, and is stored among the app's bytes under its own digest. */
export interface Manifest {
  /** By path, without a leading slash. */
  readonly files: ReadonlyMap<string, ServedFile>
  /** Whether unknown paths are served index.html, for single-page apps. */
  readonly spa: boolean
  /** False with `observe: off` in the app's configuration: pages are served without the error beacon. */
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

/** A manifest is read as a whole. 10,000 files fit, each with two encodings and a path of 140 bytes. */
const MAX_PRINTED = 4 * 1_048_576

const readPrinted = declareArguments('printManifest', {
  manifest: recordOf({ files: MAP, spa: BOOLEAN, observe: optional(BOOLEAN) }),
})
const readText = declareArguments('readManifest', { text: TEXT })

/**
 * The stored text of a manifest: equal manifests have equal texts, in whatever order they were built.
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
  if (size > MAX_PRINTED) throw new DeployError('release_too_large', { internal: `${size} bytes` })
  return text
}

function toRow({ path, sha256, size, type, immutable, encoded }: ServedFile): Row {
  const forms = ENCODINGS.flatMap((encoding) => {
    const kept = encoded[encoding]
    return kept === undefined ? [] : [[encoding, kept.sha256, kept.size] as const]
  })
  return [path, sha256, size, type, immutable ? 1 : 0, forms]
}

/** @throws TypeError for a text that is not of `printManifest` */
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

/** @param types seen before: thousands of rows share a few, and keep them in memory */
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
 * The manifest of an app's files without compression.
 *
 * @param files each path once
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

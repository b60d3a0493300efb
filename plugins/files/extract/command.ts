import { existsSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { READ_DOCUMENT, isExecutable } from '../../executable.ts'
import { findModule } from '../../packages.ts'
import { type Millis, SECOND } from '../../../lib/time.ts'

/** Limits for one document. */
export interface ExtractLimits {
  /** Wall time of the child, without waiting for `take`. Default 30 s. */
  readonly wall: Millis
  /** V8 heap of the child, in MiB. Default 256. */
  readonly heap: number
  /** Resident memory of the child in MiB, where /proc exists. Default 512. */
  readonly resident: number
  /** Size of the file, in bytes. Default 64 MiB. */
  readonly bytes: number
  /** Length of the extracted text, in UTF-16 units. Default 20 Mi. */
  readonly characters: number
  /** Default 2,000. */
  readonly pages: number
  /** Inflated size of a zip, in bytes. Default 128 MiB. */
  readonly inflated: number
  /** Compression ratio of a zip entry above 4 MiB. Default 200. */
  readonly ratio: number
  /** Nesting depth of values. Default 100. */
  readonly depth: number
  /** Characters per table row. Default 1 Mi. */
  readonly row: number
}

const MI = 1024 * 1024

export const DEFAULT_LIMITS: ExtractLimits = {
  wall: 30 * SECOND,
  heap: 256,
  resident: 512,
  bytes: 64 * MI,
  characters: 20 * MI,
  pages: 2000,
  inflated: 128 * MI,
  ratio: 200,
  depth: 100,
  row: MI,
}

/** Those that are not installed read nothing. */
const LIBRARIES = ['unpdf', 'mammoth', 'read-excel-file/node', 'htmlparser2', 'csv-parse', 'fflate']

export const PROGRAM = new URL('child.js', import.meta.url)

/**
 * Without core files, files to write, or more seconds of CPU than it may take by the clock: a child that
 * lost its parent ends all the same. The environment is emptied here once more, because tools that watch
 * processes put theirs into what is spawned.
 */
const SHELL = '/bin/sh'
const LIMITED = 'ulimit -c 0; ulimit -f 0; ulimit -t "$1"; shift; exec env -i "$@"'

/** The command line that reads one document; it may read its own code and nothing else. */
export function commandOf(
  program: URL,
  type: string,
  limits: ExtractLimits,
): readonly [file: string, ...args: string[]] {
  const flags = [
    `--max-old-space-size=${limits.heap}`,
    '--disallow-code-generation-from-strings',
    '--no-warnings',
    process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission',
  ]
  const node = [
    process.execPath,
    ...(isExecutable ? ownProgram(flags) : programIn(program, flags)),
    type,
    JSON.stringify(limits),
  ] as const
  // A container of the executable alone has no shell. With its processes the kernel ends this child too.
  if (process.platform === 'win32' || !existsSync(SHELL)) return node
  const seconds = Math.ceil(limits.wall / SECOND) + 1
  return [SHELL, '-c', LIMITED, 'sh', String(seconds), ...node]
}

function programIn(program: URL, flags: readonly string[]): readonly string[] {
  const allowed = readable(program).map((folder) => `--allow-fs-read=${folder}`)
  return [...flags, ...allowed, fileURLToPath(program)]
}

/** The executable once more, which reads no file. It takes flags in one argument. */
function ownProgram(flags: readonly string[]): readonly string[] {
  return [`--node-options=${flags.join(' ')}`, READ_DOCUMENT]
}

/** Folders of the child's program, of this plugin, of `lib` and of the libraries. */
function readable(program: URL): readonly string[] {
  const own = ['..', '../../../lib'].map((folder) => new URL(`${folder}/`, PROGRAM))
  const packages = `${sep}node_modules${sep}`
  const libraries = LIBRARIES.flatMap((name) => {
    const path = findModule(name)
    return path === undefined ? [] : path.slice(0, path.indexOf(packages) + packages.length)
  })
  const folders = [new URL('.', program), ...own].map((folder) => fileURLToPath(folder))
  return [...new Set([...folders, ...libraries])]
}

import { createRequire } from 'node:module'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Millis, SECOND } from '../../../lib/time.ts'

/** What one document may take. */
export interface ExtractLimits {
  /** From the start of its child, waiting for `take` not counted. Default 30 s. */
  readonly wall: Millis
  /** V8's heap in the child, in MiB. Default 256. */
  readonly heap: number
  /** The child's resident memory in MiB, where /proc tells it. Default 512. */
  readonly resident: number
  /** Bytes of the file. Default 64 MiB. */
  readonly bytes: number
  /** The extracted text, in UTF-16 units. Default 20 Mi. */
  readonly characters: number
  /** Default 2,000. */
  readonly pages: number
  /** What a zip holds once it is inflated, in bytes. Default 128 MiB. */
  readonly inflated: number
  /** How many times larger an entry of a zip may grow, once it is above 4 MiB. Default 200. */
  readonly ratio: number
  /** How deeply values may be nested. Default 100. */
  readonly depth: number
  /** The characters of one row of a table. Default 1 Mi. */
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

const LIBRARIES = ['unpdf', 'mammoth', 'read-excel-file/node', 'htmlparser2', 'csv-parse', 'fflate']

export const PROGRAM = new URL('child.js', import.meta.url)

/**
 * Without core files, files to write, or more seconds of CPU than it may take by the clock: a child that
 * lost its parent ends all the same. The environment is emptied here once more, because tools that watch
 * processes put theirs into what is spawned.
 */
const LIMITED = 'ulimit -c 0; ulimit -f 0; ulimit -t "$1"; shift; exec env -i "$@"'

/** The command line that reads one document, with no right but to read its own code. */
export function commandOf(
  program: URL,
  type: string,
  limits: ExtractLimits,
): readonly [file: string, ...args: string[]] {
  const node = [
    process.execPath,
    `--max-old-space-size=${limits.heap}`,
    '--disallow-code-generation-from-strings',
    '--no-warnings',
    process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission',
    ...readable(program).map((folder) => `--allow-fs-read=${folder}`),
    fileURLToPath(program),
    type,
    JSON.stringify(limits),
  ] as const
  if (process.platform === 'win32') return node
  const seconds = Math.ceil(limits.wall / SECOND) + 1
  return ['/bin/sh', '-c', LIMITED, 'sh', String(seconds), ...node]
}

/** The child's program, this room and the kernel, and where the libraries are. */
function readable(program: URL): readonly string[] {
  const own = ['..', '../../../lib'].map((folder) => new URL(`${folder}/`, PROGRAM))
  const require = createRequire(import.meta.url)
  const packages = `${sep}node_modules${sep}`
  const libraries = LIBRARIES.map((name) => {
    const path = require.resolve(name)
    return path.slice(0, path.indexOf(packages) + packages.length)
  })
  const folders = [new URL('.', program), ...own].map((folder) => fileURLToPath(folder))
  return [...new Set([...folders, ...libraries])]
}

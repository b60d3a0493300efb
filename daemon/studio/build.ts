/** A step of the build: Vite makes `dist/studio` of `studio/`, the receivers of the docs and the compiled client, when one has changed. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'

const DIST = fileURLToPath(new URL('../../', import.meta.url))
const ROOT = join(DIST, '..')
const OUTPUT = join(DIST, 'studio')
/** Fingerprint of the inputs of the last build. */
const BUILT = join(DIST, '.studio-inputs')

const INPUTS = [
  'studio',
  'docs/receivers',
  'dist/daemon/client',
  'dist/lib/internal/arguments.js',
  'package-lock.json',
]

function filesIn(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => filesIn(join(path, name)))
}

function fingerprint(): string {
  const hash = createHash('sha256')
  for (const path of INPUTS.flatMap((name) => filesIn(join(ROOT, name)))) {
    hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex')
}

/** Only compressed forms are shipped; a client that accepts neither gets them decompressed. */
function compress(path: string): void {
  const bytes = readFileSync(path)
  const params = { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT }
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  rmSync(path)
}

const inputs = fingerprint()
const isCurrent = existsSync(OUTPUT) && existsSync(BUILT) && readFileSync(BUILT, 'utf8') === inputs
if (!isCurrent) {
  rmSync(BUILT, { force: true })
  const root = join(ROOT, 'studio')
  await build({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'warn' })
  for (const path of filesIn(join(OUTPUT, 'assets'))) compress(path)
  writeFileSync(BUILT, inputs)
}

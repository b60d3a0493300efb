/** `npm run build:image`: lays out in `dist/image` what packaging/Containerfile makes an image of. */
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { ownVersion } from '../machine/own-version.ts'

const exec = promisify(execFile)

const DIST = fileURLToPath(new URL('../../', import.meta.url))
const ROOT = join(DIST, '..')

/** From this version on glibc resolves names without libraries that it opens by name, which no list would show. */
const OLDEST_GLIBC = [2, 34] as const

/** The libraries that a program links, as this machine finds them. */
async function librariesOf(executable: string): Promise<readonly string[]> {
  const { stdout } = await exec('ldd', [executable])
  const missing = /^.*not found.*$/m.exec(stdout)
  if (missing !== null) throw new Error(`a library is missing:${missing[0]}`)
  return [...stdout.matchAll(/(\/\S+)/g)].map(([, path = '']) => path)
}

async function requireGlibc(): Promise<void> {
  const { stdout } = await exec('ldd', ['--version'])
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)$/m.exec(stdout) ?? []
  const [oldest, oldestMinor] = OLDEST_GLIBC
  if (Number(major) > oldest || (Number(major) === oldest && Number(minor) >= oldestMinor)) return
  throw new Error(`an image needs glibc ${OLDEST_GLIBC.join('.')} or later: ldd is of another`)
}

async function layOut(executable: string, output: string): Promise<void> {
  await requireGlibc()
  const libraries = await librariesOf(executable)
  await rm(output, { recursive: true, force: true })
  const root = join(output, 'root')
  const files = [
    [executable, '/keyhook', 0o755],
    [join(ROOT, 'LICENSE'), '/usr/share/doc/keyhook/LICENSE', 0o644],
    ...libraries.map((path) => [path, path, 0o755] as const),
  ] as const
  for (const [from, to, mode] of files) {
    await mkdir(join(root, dirname(to)), { recursive: true })
    await copyFile(from, join(root, to))
    await chmod(join(root, to), mode)
  }
  await mkdir(join(output, 'volume/data'), { recursive: true, mode: 0o700 })
  await copyFile(join(ROOT, 'packaging/Containerfile'), join(output, 'Containerfile'))
}

// Another user than the one that owns these folders must be able to read them.
process.umask(0o022)
const { values } = parseArgs({
  options: {
    executable: { type: 'string', default: join(DIST, 'keyhook') },
    output: { type: 'string', default: join(DIST, 'image') },
  },
})
await layOut(values.executable, values.output)
const folder = relative(process.cwd(), values.output)
process.stdout.write(
  `${folder}: now \`docker build --build-arg VERSION=${ownVersion()} -t keyhook ${folder}\`, or the same with podman or buildah\n`,
)

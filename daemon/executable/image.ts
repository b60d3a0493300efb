/** `npm run build:image`: lays out in `dist/image` what packaging/Containerfile makes an image of. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { ownVersion } from '../machine/own-version.ts'
import { printLicences } from '../release/licences.ts'
import { readLock, shippedPackages } from '../release/packages.ts'
import { printSbom } from '../release/sbom.ts'
import { TOOLS } from './toolchain.ts'

const exec = promisify(execFile)

const DIST = fileURLToPath(new URL('../../', import.meta.url))
const ROOT = join(DIST, '..')
/** What the image consists of, and under which licences. */
const DOCUMENTS = '/usr/share/doc/keyhook'

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
    [join(ROOT, 'LICENSE'), `${DOCUMENTS}/LICENSE`, 0o644],
    ...libraries.map((path) => [path, path, 0o755] as const),
  ] as const
  for (const [from, to, mode] of files) {
    await mkdir(join(root, dirname(to)), { recursive: true })
    await copyFile(from, join(root, to))
    await chmod(join(root, to), mode)
  }
  await describe(join(root, DOCUMENTS), libraries)
  await mkdir(join(output, 'volume/data'), { recursive: true, mode: 0o700 })
  await copyFile(join(ROOT, 'packaging/Containerfile'), join(output, 'Containerfile'))
}

/** Writes what the image consists of, and the texts of all licences. */
async function describe(folder: string, libraries: readonly string[]): Promise<void> {
  const shipped = shippedPackages(readLock(ROOT))
  const own = { name: 'keyhook', version: ownVersion(), license: 'MIT' }
  const files = {
    'sbom.cdx.json': printSbom(own, shipped),
    'THIRD-PARTY-LICENSES.txt': [
      printLicences(shipped, ROOT),
      ...NODE_LICENCES.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8')),
      ...(await copyrightsOf(libraries)),
    ].join('\n\n'),
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, { mode: 0o644 })
  }
}

/** Node's own licence, with those of what it contains, as its package carries it. */
const NODE_LICENCES = ['x64', 'arm64'].map((arch) =>
  join(TOOLS, arch, `node_modules/node-linux-${arch}/LICENSE`),
)

/** What Debian's packages of the libraries say; another system has these texts elsewhere. */
async function copyrightsOf(libraries: readonly string[]): Promise<readonly string[]> {
  // By name: a merged /usr has each of them at two paths, of which dpkg knows one.
  const patterns = libraries.map((path) => `*/${basename(path)}`)
  const asked = await exec('dpkg', ['-S', ...patterns]).catch((cause: unknown) => ({
    // One that no package has ends it with a code, after it named the others.
    stdout: String((cause as { readonly stdout?: string }).stdout ?? ''),
  }))
  const names = [...asked.stdout.matchAll(/^([^:\s]+)(?::\w+)?: /gm)].map(([, name = '']) => name)
  return [...new Set(names)]
    .map((name) => `/usr/share/doc/${name}/copyright`)
    .filter((path) => existsSync(path))
    .map((path) => `${path}\n\n${readFileSync(path, 'utf8')}`)
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

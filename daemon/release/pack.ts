import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Published } from './manifest.ts'
import { publishedManifest } from './manifest.ts'

const exec = promisify(execFile)

/** A package, as it would be published. */
export interface Pack {
  readonly file: string
  readonly sha256: string
  readonly manifest: Published
  readonly files: ReadonlySet<string>
}

/**
 * Builds and packs what is committed, in a folder of its own.
 *
 * @param root of the repository, whose installed packages are used
 * @param repository address that the manifest names; undefined: as it is
 * @param to folder of the package
 */
export async function packCommitted(
  root: string,
  repository: string | undefined,
  to: string,
): Promise<Pack> {
  const place = await mkdtemp(join(tmpdir(), 'keyhook-release-'))
  try {
    await exec('sh', ['-c', 'git archive HEAD | tar -x -C "$0"', place], { cwd: root })
    await symlink(join(root, 'node_modules'), join(place, 'node_modules'))
    if (repository !== undefined) await amend(join(place, 'package.json'), repository)
    await exec('npm', ['run', '--silent', 'build'], { cwd: place, maxBuffer: 64 * 1024 * 1024 })
    await mkdir(to, { recursive: true })
    const asked = ['pack', '--json', '--offline', '--ignore-scripts', '--pack-destination', to]
    const { stdout } = await exec('npm', asked, { cwd: place, maxBuffer: 64 * 1024 * 1024 })
    const [packed] = JSON.parse(stdout) as readonly NpmPack[]
    if (packed === undefined) throw new Error('npm pack made nothing')
    const file = join(to, packed.filename)
    const sha256 = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
    const manifest = JSON.parse(await readFile(join(place, 'package.json'), 'utf8')) as Published
    return { file, sha256, manifest, files: new Set(packed.files.map(({ path }) => path)) }
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

interface NpmPack {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

async function amend(file: string, repository: string): Promise<void> {
  const manifest = JSON.parse(await readFile(file, 'utf8')) as Published
  await writeFile(file, `${JSON.stringify(publishedManifest(manifest, repository), null, 2)}\n`)
}

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../arch/source.ts'

const exec = promisify(execFile)

/** The package as it would be published, installed into empty folders. */
export interface Packed {
  /**
   * Makes a folder in which the package is installed, and what a page tells to install beside it.
   *
   * @param beside names of packages
   * @param peers whether the optional ones are there too. Default true
   */
  install(beside: readonly string[], peers?: boolean): Promise<string>
  remove(): Promise<void>
}

/** Packs the built repository into a folder, and returns the path of the package. */
export async function packInto(folder: string): Promise<string> {
  const flags = ['pack', '--silent', '--offline', '--pack-destination', folder]
  const { stdout } = await exec('npm', flags, { cwd: ROOT })
  return join(folder, stdout.trim())
}

/**
 * The built repository as a package: the one that `KEYHOOK_TEST_PACKAGE` names, or one that is packed for this.
 *
 * No registry is asked: the package is unpacked, and each package that it declares is a link to the
 * repository's own. The folders are outside the repository, whose `node_modules` would be found from
 * within: what was not declared is not found.
 */
export async function packKeyhook(): Promise<Packed> {
  const home = await mkdtemp(join(tmpdir(), 'keyhook-packed-'))
  const tarball = process.env['KEYHOOK_TEST_PACKAGE'] ?? (await packInto(home))
  return {
    async install(beside, peers = true) {
      const folder = await mkdtemp(join(home, 'shop-'))
      const keyhook = join(folder, 'node_modules', 'keyhook')
      await mkdir(keyhook, { recursive: true })
      await exec('tar', ['-xzf', tarball, '-C', keyhook, '--strip-components=1'])
      for (const name of new Set([...(await declaredBy(keyhook, peers)), ...beside])) {
        await link(name, folder)
      }
      return folder
    },
    remove: () => rm(home, { recursive: true, force: true }),
  }
}

/** What npm would install with the package, and the optional peers. */
async function declaredBy(keyhook: string, peers: boolean): Promise<readonly string[]> {
  const { dependencies, peerDependencies } = JSON.parse(
    await readFile(join(keyhook, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'peerDependencies', object>
  return Object.keys({ ...dependencies, ...(peers ? peerDependencies : {}) })
}

async function link(name: string, folder: string): Promise<void> {
  const place = join(folder, 'node_modules', name)
  await mkdir(dirname(place), { recursive: true })
  await symlink(join(ROOT, 'node_modules', name), place)
}

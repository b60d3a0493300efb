/** `npm run release -- --dry-run --repository https://…`: makes everything of a release, checks it, and publishes it. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { SHIPPED, USED, printLicences, refusedOf } from './licences.ts'
import { contentFaults, manifestFaults } from './manifest.ts'
import { notesOf } from './notes.ts'
import { packCommitted } from './pack.ts'
import { everyPackage, readLock, shippedPackages } from './packages.ts'
import { printSbom } from './sbom.ts'

const exec = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    repository: { type: 'string' },
    output: { type: 'string', default: join(ROOT, 'dist/release') },
  },
})

interface Made {
  readonly tarball: string
  readonly faults: readonly string[]
}

async function make(output: string, repository: string | undefined): Promise<Made> {
  await rm(output, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  const first = await packCommitted(ROOT, repository, output)
  const second = await packCommitted(ROOT, repository, join(output, 'again'))
  await rm(join(output, 'again'), { recursive: true })
  const { manifest } = first
  const { name = '', version = '', license = '' } = manifest
  const lock = readLock(ROOT)
  const shipped = shippedPackages(lock)
  const files = {
    'sbom.cdx.json': printSbom({ name, version, license }, shipped),
    'THIRD-PARTY-LICENSES.txt': printLicences(shipped, ROOT),
    'NOTES.md': notesOf(await readFile(join(ROOT, 'docs/CHANGELOG.md'), 'utf8'), version),
    SHA256SUMS: `${first.sha256}  ${relative(output, first.file)}\n`,
  }
  for (const [file, text] of Object.entries(files)) await writeFile(join(output, file), text)
  return {
    tarball: first.file,
    faults: [
      ...manifestFaults(manifest),
      ...contentFaults(manifest, first.files),
      ...refusedOf(shipped, SHIPPED).map((one) => `may not be published: ${one}`),
      ...refusedOf(everyPackage(lock), USED).map((one) => `may not be used: ${one}`),
      ...(first.sha256 === second.sha256 ? [] : ['two builds of the same commit differ']),
    ],
  }
}

/** The tarball is of the commit, the notes and the licences of the folder. */
async function requireCommitted(): Promise<void> {
  const { stdout } = await exec('git', ['status', '--porcelain'], { cwd: ROOT })
  if (stdout !== '') throw new Error('there are changes that are not committed')
}

if (!values['dry-run']) await requireCommitted()
const { tarball, faults } = await make(values.output, values.repository)
for (const fault of faults) process.stderr.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1
else if (!values['dry-run']) await exec('npm', ['publish', tarball], { cwd: ROOT })
const what = faults.length > 0 ? 'refused' : values['dry-run'] ? 'may be published' : 'published'
process.stdout.write(`${relative(process.cwd(), tarball)}: ${what}\n`)

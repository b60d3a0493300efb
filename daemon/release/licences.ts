import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Locked } from './packages.ts'
import { nameOf } from './packages.ts'

/** Licences, by their names of SPDX, of what may be published: each allows it with its text beside it. */
export const SHIPPED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
  'Zlib',
])

/** Also of what only builds and tests, and is never published. */
export const USED: ReadonlySet<string> = new Set([
  ...SHIPPED,
  'CC-BY-3.0',
  'CC-BY-4.0',
  'MPL-2.0',
  'PSF-2.0',
])

/** Packages whose manifest has no name of SPDX, by what their file of a licence says. */
const READ_BY_US: Readonly<Record<string, string>> = {
  busboy: 'MIT',
  duck: 'BSD-2-Clause',
  'jsonc-simple-parser': 'MIT',
  streamsearch: 'MIT',
}

/** The licence of a package, as an expression of SPDX; undefined when it names none. */
export function licenceOf(place: string, { license }: Locked): string | undefined {
  return READ_BY_US[nameOf(place)] ?? license
}

/** Whether an expression of SPDX can be met with licences of a list. */
export function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const bare = expression.replaceAll(/[()]/g, '')
  return bare
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((name) => allowed.has(name.trim())))
}

/** The packages of a list that may not be used, with what they say. */
export function refusedOf(
  packages: readonly (readonly [place: string, Locked])[],
  allowed: ReadonlySet<string>,
): readonly string[] {
  return packages.flatMap(([place, one]) => {
    const licence = licenceOf(place, one)
    const isFine = licence !== undefined && isAllowed(licence, allowed)
    return isFine ? [] : [`${nameOf(place)}@${one.version}: ${licence ?? 'no licence'}`]
  })
}

const FILES = /^(licen[cs]e|copying|notice)/i

/** One text of all licences of packages that are installed below `root`. */
export function printLicences(
  packages: readonly (readonly [place: string, Locked])[],
  root: string,
): string {
  const parts = packages.map(([place, one]) => {
    const folder = join(root, place)
    const files = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && FILES.test(entry.name))
      .map(({ name }) => readFileSync(join(folder, name), 'utf8').trim())
    const head = `${nameOf(place)} ${one.version} (${licenceOf(place, one) ?? ''})`
    return [head, '-'.repeat(head.length), ...files].join('\n\n')
  })
  return `${parts.join('\n\n\n')}\n`
}

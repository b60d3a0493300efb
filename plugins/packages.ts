/**
 * The packages that an installation may leave out: optional peer dependencies, each loaded where it is needed.
 *
 * @module
 */
import { createRequire, isBuiltin } from 'node:module'
import { isExecutable } from './executable.ts'

/** The module that is imported of each. */
const MODULES = {
  sqlite3: 'sqlite3',
  pg: 'pg',
  sequelize: 'sequelize',
  openai: 'openai',
  stripe: 'stripe',
  amqplib: 'amqplib',
  '@redis/client': '@redis/client',
  '@opentelemetry/api': '@opentelemetry/api',
  '@opentelemetry/sdk-node': '@opentelemetry/sdk-node',
  unpdf: 'unpdf',
  mammoth: 'mammoth',
  'read-excel-file': 'read-excel-file/node',
  'csv-parse': 'csv-parse',
  fflate: 'fflate',
} as const

export type OptionalPackage = keyof typeof MODULES

/** Modules of Node, since some version, that replace a package. */
const BUILT_IN: Partial<Record<OptionalPackage, string>> = { sqlite3: 'node:sqlite' }

const { resolve } = createRequire(import.meta.url)

/** The file of a module; undefined when its package is not installed. Nothing of it is run. */
export function findModule(name: string): string | undefined {
  // All but the one with a native part.
  if (isExecutable) return name === 'sqlite3' ? undefined : process.execPath
  try {
    return resolve(name)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw cause
  }
}

/** Those that are neither installed nor replaced by Node itself, each once. */
export function missingPackages(names: readonly OptionalPackage[]): readonly OptionalPackage[] {
  return [...new Set(names)].filter(
    (name) => findModule(MODULES[name]) === undefined && !isBuiltin(BUILT_IN[name] ?? ''),
  )
}

/** What is missing and its remedy, after `… need`: `a package that is not installed: npm i pg`. */
export function describeMissing(missing: readonly OptionalPackage[]): string {
  const which = missing.length === 1 ? 'a package that is' : 'packages that are'
  return `${which} not installed: ${installCommand(missing)}`
}

/** The command that installs packages. */
export function installCommand(names: readonly OptionalPackage[]): string {
  return `npm i ${names.join(' ')}`
}

/**
 * Requires packages before they are imported, so that the one that is missing is named with its remedy.
 *
 * @param purpose what needs them, such as `A SQLite database`
 * @throws Error with the command that installs what is missing
 */
export function requirePackages(purpose: string, names: readonly OptionalPackage[]): void {
  const missing = missingPackages(names)
  if (missing.length === 0) return
  throw new Error(`${purpose} needs ${describeMissing(missing)}`)
}

/**
 * SQLite by the driver that is there: the package sqlite3, or else Node itself.
 *
 * @module
 */
import { findModule, requirePackages } from '../packages.ts'
import type { Mode, SqliteConnection, SqliteDriver } from './driver.ts'
import { hasNodeSqlite } from './node-sqlite.ts'

export type { SqliteConnection, SqliteStatement } from './driver.ts'

type Choice = SqliteDriver['name']

const LOADS: Readonly<Record<Choice, () => Promise<SqliteDriver>>> = {
  sqlite3: async () => (await import('./npm.ts')).loadNpmDriver(),
  'node:sqlite': async () => (await import('./node.ts')).nodeDriver,
}

let chosen: Promise<SqliteDriver> | undefined

/**
 * Opens a SQLite file.
 *
 * @throws Error with the remedy, when there is no driver
 * @throws Error when the file cannot be opened
 */
export async function openDatabase(file: string, mode: Mode): Promise<SqliteConnection> {
  chosen ??= choose()
  return (await chosen).open(file, mode)
}

/**
 * Requires a driver before anything is opened.
 *
 * @throws Error with the remedy
 */
export async function requireSqlite(): Promise<void> {
  chosen ??= choose()
  await chosen
}

/** Uses a driver whatever else is there, before anything is opened: tests run over each. */
export function useDriver(choice: Choice): void {
  chosen = LOADS[choice]()
}

/** The package comes first: Node's own has a thread of its own for each connection. */
async function choose(): Promise<SqliteDriver> {
  if (findModule('sqlite3') !== undefined) {
    try {
      return await LOADS.sqlite3()
    } catch (cause) {
      if (!hasNodeSqlite()) throw notBuilt(cause)
    }
  }
  requirePackages('A SQLite database', ['sqlite3'])
  return LOADS['node:sqlite']()
}

/** Its native part is built when it is installed, which `--ignore-scripts` and another Node leave undone. */
function notBuilt(cause: unknown): Error {
  const { code } = cause as NodeJS.ErrnoException
  const why = code === 'ERR_DLOPEN_FAILED' ? 'does not fit this Node' : 'is not built'
  return new Error(
    `A SQLite database needs the native part of the package sqlite3, which ${why}. Run npm rebuild sqlite3 ` +
      '(python3, make and g++ build it), or use Node 22.13 or later, which has SQLite built in',
    { cause },
  )
}

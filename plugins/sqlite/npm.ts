/**
 * The package sqlite3, which only this module imports.
 *
 * @module
 */
import { createRequire } from 'node:module'
import type sqlite3 from 'sqlite3'
import type { Mode, Row, SqliteConnection, SqliteDriver, SqliteStatement } from './driver.ts'

type Package = typeof sqlite3

/** The package's default adds a mutex, which one owner does not need. */
const flagsOf = (from: Package): Readonly<Record<Mode, number>> => ({
  read: from.OPEN_READONLY,
  write: from.OPEN_READWRITE,
  create: from.OPEN_READWRITE | from.OPEN_CREATE,
})

/** @throws Error when its native part cannot be loaded, which `import` of Node 20 would report twice */
export function loadNpmDriver(): SqliteDriver {
  const loaded = createRequire(import.meta.url)('sqlite3') as Package
  const flags = flagsOf(loaded)
  return {
    name: 'sqlite3',
    async open(file, mode) {
      let opened: sqlite3.Database | undefined
      await settled((done) => {
        opened = new loaded.Database(file, flags[mode], done)
      })
      return connectionOver(opened as sqlite3.Database)
    },
  }
}

function connectionOver(database: sqlite3.Database): SqliteConnection {
  return {
    all: <T extends Row>(sql: string, bind: readonly unknown[] = []) =>
      rowsOf<T>((done) => database.all<T>(sql, bind, done)),
    exec: (sql) => settled((done) => database.exec(sql, done)),
    async prepare(sql) {
      let statement: sqlite3.Statement | undefined
      // Without a listener an error would end the process.
      await settled((done) => {
        statement = database.prepare(sql, done)
      })
      return statementOver(statement as sqlite3.Statement)
    },
    copyTo: (file, pages, progress) =>
      copyPages(database as unknown as Source, file, pages, progress),
    close: () =>
      settled((done) => {
        database.close(done)
      }),
  }
}

function statementOver(statement: sqlite3.Statement): SqliteStatement {
  return {
    all: <T extends Row>(bind: readonly unknown[]) =>
      rowsOf<T>((done) => statement.all<T>(bind, done)),
    finalize: () =>
      new Promise((resolve) => {
        statement.finalize(() => {
          resolve()
        })
      }),
  }
}

function settled(run: (done: (error: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    run((error) => {
      if (error === null) resolve()
      else reject(error)
    })
  })
}

function rowsOf<T>(run: (done: (error: Error | null, rows: T[]) => void) => unknown): Promise<T[]> {
  return new Promise((resolve, reject) => {
    run((error, rows) => {
      if (error === null) resolve(rows)
      else reject(error)
    })
  })
}

/** SQLite's online backup, which the package has and its types lack. */
interface Backup {
  readonly remaining: number
  readonly pageCount: number
  readonly completed: boolean
  step(pages: number, done: (failed: Error | null) => void): void
  finish(done: () => void): void
}

interface Source {
  backup(file: string, opened: (failed: Error | null) => void): Backup
}

async function copyPages(
  source: Source,
  to: string,
  pages: number,
  progress: (share: number) => void,
): Promise<void> {
  let opened: Backup | undefined
  await settled((done) => {
    opened = source.backup(to, done)
  })
  const backup = opened as Backup
  try {
    while (!backup.completed) {
      await settled((done) => {
        backup.step(pages, done)
      })
      const { remaining, pageCount } = backup
      progress(pageCount > 0 ? 1 - remaining / pageCount : 1)
    }
  } finally {
    await new Promise<void>((resolve) => {
      backup.finish(resolve)
    })
  }
}

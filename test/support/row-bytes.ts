import sqlite3 from 'sqlite3'

type All = (this: sqlite3.Statement, ...args: readonly unknown[]) => sqlite3.Statement
type Done = (error: Error | null, rows: readonly object[]) => void

/**
 * Counts the bytes of what SQLite answers to this process, until the test ends.
 *
 * @returns measures one piece of work
 */
export function countRowBytes(t: {
  teardown(handler: () => void): void
}): (work: () => Promise<unknown>) => Promise<number> {
  const statements = sqlite3.Statement.prototype as { all: All }
  const { all } = statements
  let bytes = 0
  statements.all = function (...args) {
    const done = args.at(-1) as Done
    const counted: Done = (error, rows) => {
      for (const row of error === null ? rows : []) {
        for (const value of Object.values(row)) bytes += sizeOf(value)
      }
      done(error, rows)
    }
    return all.call(this, ...args.slice(0, -1), counted)
  }
  t.teardown(() => {
    statements.all = all
  })
  return async (work) => {
    const before = bytes
    await work()
    return bytes - before
  }
}

function sizeOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length
  return typeof value === 'string' ? Buffer.byteLength(value) : 8
}

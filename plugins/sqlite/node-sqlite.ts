/**
 * SQLite of Node itself, as far as it is used: the types of Node 20 do not know it.
 *
 * @module
 */
import { isBuiltin } from 'node:module'

export type Value = string | number | bigint | Uint8Array | null

export interface Statement {
  setReturnArrays(enabled: boolean): void
  all(...values: readonly Value[]): Value[][]
  columns(): readonly { readonly name: string }[]
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export interface NodeSqlite {
  readonly DatabaseSync: new (file: URL, options: { readonly readOnly: boolean }) => Database
  backup(
    source: Database,
    file: string,
    options: {
      readonly rate: number
      progress(report: { readonly totalPages: number; readonly remainingPages: number }): void
    },
  ): Promise<number>
}

const NAME = 'node:sqlite'

/** Without a flag since Node 22.13. */
export function hasNodeSqlite(): boolean {
  return isBuiltin(NAME)
}

export function loadNodeSqlite(): NodeSqlite {
  return process.getBuiltinModule(NAME) as unknown as NodeSqlite
}

import { isObject } from './sql/joined.ts'
import type { PgSequelize } from './sql/postgres/source.ts'

/** What is used of an embedder's Sequelize instance, whatever its dialect. */
export interface SequelizeLike extends PgSequelize {
  /** Of dialect `sqlite` its file is `storage`. */
  readonly options: { readonly storage?: string }
  getDialect(): string
  transaction<T>(options: object, work: (transaction: object) => Promise<T>): Promise<T>
}

/** Recognized by its shape: an embedder may have another copy of Sequelize. */
export function isSequelize(value: unknown): value is SequelizeLike {
  return (
    isObject(value) &&
    typeof value['getDialect'] === 'function' &&
    isObject(value['connectionManager'])
  )
}

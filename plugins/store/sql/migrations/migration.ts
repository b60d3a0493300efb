import type { Dialect } from '../client.ts'
import type { Tables } from '../tables.ts'

/** One step of a family's schema. Append-only: a step that was released is never edited. */
export interface Migration<T = Tables> {
  /** `family/0001-what-it-does` */
  readonly name: string
  /** Whether no process of an older version may run from then on. Default false. */
  readonly alone?: boolean
  /** Its statements, for the tables and the dialect at hand. */
  readonly up: (tables: T, dialect: Dialect) => readonly string[]
}

/** One step of a schema, for named tables. */
export interface Step {
  readonly name: string
  readonly alone: boolean
  up(dialect: Dialect): readonly string[]
}

import type { Dialect } from '../../store/sql/client.ts'
import { PASSAGES as POSTGRES } from './postgres-passages.ts'
import { PASSAGES as SQLITE } from './sqlite-passages.ts'
import type { Passages } from './word-index.ts'

/** How each database indexes and finds passages. */
export const PASSAGES: Readonly<Record<Dialect['name'], Passages>> = {
  postgres: POSTGRES,
  sqlite: SQLITE,
}

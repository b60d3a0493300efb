import type { Page } from '../../store/contract/page.ts'
import type { Query } from '../../store/sql/client.ts'
import { integer } from '../../store/sql/rows.ts'
import type { PlatformModel, PlatformTables } from '../sql/tables.ts'
import type { Declared, RecordOfDeclared } from '../../store/sql/columns.ts'
import type { Key } from '../../store/sql/conditions.ts'
import { equal } from '../../store/sql/conditions.ts'
import type { Listed } from './pages.ts'
import { besideJob, readPage } from './pages.ts'

/** The records of a model, as they are read. */
export interface Records<R> {
  get(key: Key): Promise<R | undefined>
  count(key: Key): Promise<number>
  /** The first that `select` finds. */
  first(rest: string, bind: readonly unknown[]): Promise<R | undefined>
  /** @param rest SQL: what follows WHERE */
  select(rest: string, bind: readonly unknown[]): Promise<readonly R[]>
  page(listed: Listed): Promise<Page<R>>
}

export function recordsOf<D extends Declared>(
  query: Query,
  t: PlatformTables,
  model: PlatformModel<D>,
): Records<RecordOfDeclared<D>> {
  const table = t[model.table]
  const read = `SELECT * FROM ${table} ${besideJob(t, model)}`
  const select = async (rest: string, bind: readonly unknown[]) =>
    (await query(`${read} WHERE ${rest}`, bind)).map(model.toRecord)
  const first: Records<RecordOfDeclared<D>>['first'] = async (rest, bind) => {
    const [record] = await select(rest, bind)
    return record
  }
  return {
    select,
    first,
    get(key) {
      const { sql, bind } = equal(key)
      return first(sql, bind)
    },
    async count(key) {
      const { sql, bind } = equal(key)
      const [row] = await query(`SELECT count(*) AS count FROM ${table} WHERE ${sql}`, bind)
      return integer(row?.['count'])
    },
    async page(listed) {
      const { rows, ...more } = await readPage(query, t, model, listed)
      return { ...more, rows: rows.map(model.toRecord) }
    },
  }
}

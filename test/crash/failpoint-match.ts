import type { Asked } from './drivers.ts'
import type { Statement } from './failpoint-table.ts'

/** Sequelize quotes names, and leaves out blanks around what is bound. */
const unquoted = (sql: string): string =>
  sql
    .replaceAll(/["`]/g, '')
    .replaceAll(/\b=(\$\d+)/g, ' = $1')
    .replaceAll(/(\$\d+),(?=\w)/g, '$1, ')

/** Whether what is asked of a driver is such a statement, where and with what it was meant. */
export function matches({ sql, within, bind }: Statement, asked: Asked): boolean {
  if (!sql.test(unquoted(asked.sql))) return false
  if (within === null && asked.transaction !== undefined) return false
  if (within instanceof RegExp) {
    const before = asked.transaction ?? []
    if (!before.some((one) => within.test(unquoted(one)))) return false
  }
  return bind === undefined || bind.test(asked.bind())
}

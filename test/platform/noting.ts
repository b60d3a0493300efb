import type { Query, SqlClient } from '../../plugins/store/sql/client.ts'

/** The client, noting the text and values of every statement of a unit. */
export function noting(client: SqlClient, statements: Parameters<Query>[]): SqlClient {
  return {
    ...client,
    transaction: (work, options) =>
      client.transaction((query) => {
        const note: Query = (sql, bind = []) => {
          statements.push([sql, bind])
          return query(sql, bind)
        }
        return work(note)
      }, options),
  }
}

import Router from '@koa/router'
import sqlite3 from 'sqlite3'
import { listenWith } from '../listen.ts'
import { serve } from '../serve.ts'

/** The baseline of a read from memory: Koa and its router, which answer a record that is there. */
function startRecord(record: object): Promise<string> {
  const router = new Router()
  router.get('/v1/keys/self', (ctx) => {
    ctx.body = record
  })
  return listenWith(router)
}

/** A row of the product's own tables, found by its account and id. */
export interface BareRow {
  readonly file: string
  readonly table: string
  /** Where it is asked for; it ends with the id. */
  readonly path: string
}

/** The baseline of a read of one row: the same with a prepared SELECT of that row. */
async function startRow({ file, table, path }: BareRow): Promise<string> {
  const database = new sqlite3.Database(file, sqlite3.OPEN_READWRITE)
  const statement = database.prepare(`SELECT * FROM ${table} WHERE account_id = ? AND id = ?`)
  const account = await new Promise<string>((resolve, reject) => {
    database.get<{ account_id: string }>(`SELECT account_id FROM ${table}`, (error, row) => {
      if (error === null) resolve(row.account_id)
      else reject(error)
    })
  })
  const find = (id: string): Promise<object> =>
    new Promise((resolve, reject) => {
      statement.get<object>([account, id], (error, row) => {
        if (error === null && row !== undefined) resolve(row)
        else reject(error ?? new Error('no such row'))
      })
    })
  const router = new Router()
  router.get(path, async (ctx) => {
    ctx.body = await find(String(ctx.params['id']))
  })
  return listenWith(router)
}

serve({ startRecord, startRow })

import sqlite3 from 'sqlite3'
import { createUuid7 } from '../../../lib/internal/uuid7.ts'
import { createEventId, serializeEvent } from '../../../lib/webhook/event.ts'
import { createRandom } from '../../../daemon/machine/ports.ts'
import { openDatabase } from '../../../plugins/registry.ts'
import { WARM_UP_MS, now } from '../clock.ts'
import { data, TYPE } from '../payload.ts'
import { serve } from '../serve.ts'

const EVENT_COLUMNS = ['account_id', 'id', 'app_id', 'type', 'created_at', 'body']
const DELIVERY_COLUMNS = [
  'id',
  'account_id',
  'webhook_id',
  'event_id',
  'event_type',
  'app_id',
  'status',
  'attempts',
  'automatic',
  'cause',
  'retry',
  'next_at',
  'created_at',
  'done_at',
  'claim',
]

/**
 * The baseline of accepting batches: events and their deliveries by multi-row inserts into the product's own
 * tables, each transaction `rows` of both, as durable.
 */
async function insert(input: {
  readonly file: string
  readonly rows: number
  readonly seconds: number
}): Promise<number> {
  const { store } = await openDatabase(input.file)
  await store.close()
  const database = new sqlite3.Database(input.file)
  const run = (sql: string, bind: readonly unknown[] = []): Promise<void> =>
    settled((done) => database.run(sql, bind, done))
  await run('PRAGMA journal_mode = WAL')
  await run('PRAGMA synchronous = FULL')
  const events = prepared(database, 'keyhook_events', EVENT_COLUMNS, input.rows)
  const deliveries = prepared(database, 'keyhook_deliveries', DELIVERY_COLUMNS, input.rows)
  const next = createRows()

  const from = now() + WARM_UP_MS * 1000
  const end = from + input.seconds * 1e6
  let count = 0
  for (let at = now(); at < end; at = now()) {
    const rows = Array.from({ length: input.rows }, next)
    await run('BEGIN IMMEDIATE')
    await events(rows.flatMap(({ event }) => event))
    await deliveries(rows.flatMap(({ delivery }) => delivery))
    await run('COMMIT')
    if (at >= from) count += input.rows
  }
  return count / ((now() - from) / 1e6)
}

function prepared(
  database: sqlite3.Database,
  table: string,
  columns: readonly string[],
  rows: number,
): (bind: readonly unknown[]) => Promise<void> {
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = Array.from({ length: rows }, () => row).join(', ')
  const statement = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values}`,
  )
  return (bind) => settled((done) => statement.run(bind, done))
}

function createRows(): () => { event: readonly unknown[]; delivery: readonly unknown[] } {
  const random = createRandom()
  const newId = createUuid7(() => Date.now(), random)
  const webhook = newId()
  return () => {
    const at = Date.now()
    const id = createEventId(at, random)
    const body = Buffer.from(serializeEvent({ id, type: TYPE, created_at: at, data }))
    return {
      event: ['acc_bench', id, null, TYPE, at, body],
      delivery: [
        newId(),
        'acc_bench',
        webhook,
        id,
        TYPE,
        null,
        'pending',
        0,
        0,
        'event',
        0,
        at,
        at,
        null,
        null,
      ],
    }
  }
}

function settled(start: (done: (error: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => {
      if (error === null) resolve()
      else reject(error)
    })
  })
}

serve({ insert })

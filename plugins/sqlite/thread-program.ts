/** The program of a thread that holds one connection of `node:sqlite`, whose calls are synchronous. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Database, Statement, Value } from './node-sqlite.ts'
import { loadNodeSqlite } from './node-sqlite.ts'
import type { Answer, Call, CallOf, Failure, Kind, Rows, Target } from './thread-calls.ts'

const NOTHING: Rows = { names: [], rows: [] }
const statements = new Map<number, Statement>()

type Run<K extends Kind> = (database: Database, call: CallOf<K>, id: number) => Rows | Promise<Rows>

const RUNS: { readonly [K in Kind]: Run<K> } = {
  all: (database, { sql, bind }) => rowsOf(database.prepare(sql), bind),
  exec(database, { sql }) {
    database.exec(sql)
    return NOTHING
  },
  prepare(database, { sql }, id) {
    statements.set(id, database.prepare(sql))
    return NOTHING
  },
  run: (_database, { statement, bind }) => rowsOf(statementOf(statement), bind),
  finalize(_database, { statement }) {
    statements.delete(statement)
    return NOTHING
  },
  async copy(database, { file, pages }, id) {
    await sqlite.backup(database, file, {
      rate: pages,
      progress({ totalPages, remainingPages }) {
        say({ id, share: totalPages > 0 ? 1 - remainingPages / totalPages : 1 })
      },
    })
    return NOTHING
  },
  close(database) {
    statements.clear()
    database.close()
    return NOTHING
  },
}

function statementOf(id: number): Statement {
  const statement = statements.get(id)
  if (statement === undefined) throw new Error('the statement is finalized')
  return statement
}

function rowsOf(statement: Statement, bind: readonly unknown[]): Rows {
  statement.setReturnArrays(true)
  const rows = statement.all(...bind.map(toValue))
  return rows.length === 0 ? NOTHING : { rows, names: statement.columns().map(({ name }) => name) }
}

/** A number is bound as a double, which JSON and texts would show as `1.0`, unless it is a bigint. */
function toValue(value: unknown): Value {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === 'boolean') return value ? 1n : 0n
  return (value ?? null) as Value
}

function say(answer: Answer): void {
  parentPort?.postMessage(answer)
}

function failureOf(cause: unknown): Failure {
  const { message, errcode } = cause as Error & { readonly errcode?: number }
  return { message, errcode }
}

async function answer(id: number, run: () => Rows | Promise<Rows>): Promise<void> {
  try {
    const made = run()
    // Awaiting what is there already would let the next call overtake its answer.
    say({ id, rows: made instanceof Promise ? await made : made })
  } catch (cause) {
    say({ id, failed: failureOf(cause) })
  }
}

// It is experimental until Node 24, which an operator can do nothing about.
process.removeAllListeners('warning')
const sqlite = loadNodeSqlite()

const { url, readOnly } = workerData as Target
void answer(0, () => {
  const database = new sqlite.DatabaseSync(new URL(url), { readOnly })
  parentPort?.on('message', ([id, call]: readonly [number, Call]) => {
    const run = RUNS[call.kind] as Run<Kind>
    void answer(id, () => run(database, call, id))
  })
  return NOTHING
})

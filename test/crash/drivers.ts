import http from 'node:http'
import net from 'node:net'
import pg from 'pg'
import sqlite3 from 'sqlite3'
import type { Dispatcher } from 'undici'
import { Pool } from 'undici'
import type { Moment } from './failpoint-table.ts'

/** One statement on its way to a database. */
export interface Asked {
  /** Blanks folded. */
  readonly sql: string
  readonly bind: () => string
  /** What was asked before in the same transaction; undefined outside of one. */
  readonly transaction: readonly string[] | undefined
}

/** Stands between the daemon and its drivers. */
export interface Watcher {
  /** Gives the text that is asked instead. */
  rewrite(sql: string): string
  /** Whether the caller is told at once, before anything is done. */
  answersEarly(asked: Asked): boolean
  before(asked: Asked): void
  during(asked: Asked): void
  after(asked: Asked): void
  moment(moment: Moment, when: 'before' | 'during' | 'after'): void
  /** Whether half of a body is all that is sent. */
  cutsBody(): boolean
}

type Method<Self = object> = (this: Self, ...input: unknown[]) => unknown
type Methods<Self = object> = Record<string, Method<Self>>

/** How long the work waits of which the caller was told early. */
const EARLY = 60

/** Puts the watcher around the calls of sqlite3, pg, undici, sockets and the HTTP server. */
export function watchDrivers(watcher: Watcher): void {
  watchDatabases(watcher)
  watchSends(watcher)
  watchAnswers(watcher)
}

/** Puts it around sqlite3 and pg alone. */
export function watchDatabases(watcher: Watcher): void {
  watchSqlite(watcher)
  watchPostgres(watcher)
}

const fold = (sql: string): string => sql.replace(/\s+/g, ' ').trim()

/** Follows the transactions of one connection. */
function createTransactions(): (sql: string) => readonly string[] | undefined {
  let statements: string[] | undefined
  return (sql) => {
    if (sql.startsWith('BEGIN')) statements = []
    const before = statements && [...statements]
    if (/^(COMMIT|ROLLBACK)/.test(sql)) statements = undefined
    else if (!sql.startsWith('SELECT')) statements?.push(sql)
    return before
  }
}

function watchSqlite(watcher: Watcher): void {
  const statements = sqlite3.Statement.prototype as unknown as Methods
  const databases = sqlite3.Database.prototype as unknown as Methods
  // Only the writer has transactions, and nothing else is asked of it meanwhile.
  const follow = createTransactions()
  for (const name of ['all', 'run', 'get'] as const) {
    const original = statements[name] as Method
    statements[name] = function (...input) {
      const sql = fold(String((this as { sql?: unknown }).sql))
      const asked = { sql, bind: () => printBind(input[0]), transaction: follow(sql) }
      const callback = input.at(-1)
      if (typeof callback !== 'function') return original.apply(this, input)
      if (watcher.answersEarly(asked)) {
        setTimeout(
          () =>
            original.apply(
              this,
              input.with(-1, () => undefined),
            ),
          EARLY,
        )
        callback.call(this, null, [])
        return this
      }
      watcher.before(asked)
      const heard = function (this: object, ...answer: unknown[]): unknown {
        if (answer[0] === null) watcher.after(asked)
        return callback.apply(this, answer)
      }
      const result = original.apply(this, input.with(-1, heard))
      watcher.during(asked)
      return result
    }
  }
  for (const name of ['all', 'run', 'get', 'prepare', 'exec'] as const) {
    const original = databases[name] as Method
    databases[name] = function (sql, ...input) {
      return original.call(this, watcher.rewrite(String(sql)), ...input)
    }
  }
  const close = databases['close'] as Method
  databases['close'] = function (...input) {
    const result = close.apply(this, input)
    watcher.moment('close', 'during')
    return result
  }
}

/** Values are bound as a list, or under their names. */
function printBind(bind: unknown): string {
  return String(Array.isArray(bind) ? bind : Object.values(bind ?? {}))
}

function watchPostgres(watcher: Watcher): void {
  const clients = pg.Client.prototype as unknown as Methods
  const query = clients['query'] as Method
  const followed = new WeakMap<object, ReturnType<typeof createTransactions>>()
  clients['query'] = function (config, ...input) {
    const statement = config as { readonly text?: string; readonly values?: unknown[] }
    if (typeof statement?.text !== 'string') return query.call(this, config, ...input)
    const follow = followed.get(this) ?? createTransactions()
    followed.set(this, follow)
    const sql = fold(statement.text)
    const asked = { sql, bind: () => String(statement.values), transaction: follow(sql) }
    const text = watcher.rewrite(statement.text)
    const ask = (): Promise<unknown> => query.call(this, { ...statement, text }) as Promise<unknown>
    if (watcher.answersEarly(asked)) {
      setTimeout(() => void ask().catch(() => undefined), EARLY)
      return Promise.resolve({ command: sql, rows: rowsToCome(statement.values) })
    }
    watcher.before(asked)
    const answer = ask().then((result) => {
      watcher.after(asked)
      return result
    })
    watcher.during(asked)
    return answer
  }
  const end = clients['end'] as Method
  clients['end'] = function (...input) {
    watcher.moment('close', 'during')
    return end.apply(this, input)
  }
}

/** What a statement over a JSON array of rows answers, one row each; nothing for any other. */
function rowsToCome([first]: readonly unknown[] = []): readonly unknown[] {
  return typeof first === 'string' && first.startsWith('[{') ? (JSON.parse(first) as unknown[]) : []
}

function watchSends(watcher: Watcher): void {
  const pools = Pool.prototype as unknown as Methods
  const dispatch = pools['dispatch'] as Method
  pools['dispatch'] = function (options, handler) {
    return dispatch.call(this, options, watched(handler as Dispatcher.DispatchHandler, watcher))
  }
  const sockets = net.Socket.prototype as unknown as Methods<net.Socket>
  const connect = sockets['connect'] as Method<net.Socket>
  sockets['connect'] = function (...input) {
    // Of all that connects, only the sender pins its addresses.
    if (isPinned(input)) {
      this.once('connect', () => {
        watcher.moment('connect', 'after')
        cutBodies(this, watcher)
      })
    }
    return connect.apply(this, input)
  }
}

function isPinned([options]: readonly unknown[]): boolean {
  const first: unknown = Array.isArray(options) ? options[0] : options
  return typeof first === 'object' && first !== null && 'lookup' in first
}

function watched(
  handler: Dispatcher.DispatchHandler,
  watcher: Watcher,
): Dispatcher.DispatchHandler {
  const watching: Dispatcher.DispatchHandler & { onRequestSent(): void } = {
    onConnect(abort) {
      watcher.moment('send', 'before')
      handler.onConnect?.(abort)
    },
    // Called by undici after the last byte was handed to the system, though its types do not say so.
    onRequestSent() {
      watcher.moment('send', 'after')
    },
    onHeaders(status, headers, resume, text) {
      if (status >= 200) watcher.moment('status', 'after')
      return handler.onHeaders?.(status, headers, resume, text) ?? true
    },
    onData: (part) => handler.onData?.(part) ?? true,
    onComplete: (trailers) => handler.onComplete?.(trailers),
    onError: (cause) => handler.onError?.(cause),
  }
  return watching
}

/** Half of a body goes out, and then nothing: the receiver must not take it for a delivery. */
function cutBodies(socket: net.Socket, watcher: Watcher): void {
  const write = socket.write.bind(socket) as Method
  const cutting: Method = function (part, ...input) {
    if (!(part instanceof Uint8Array) || part.length < 2 || !watcher.cutsBody()) {
      return write.call(socket, part, ...input)
    }
    return write.call(socket, part.subarray(0, part.length >> 1), () => {
      watcher.moment('body', 'during')
    })
  }
  socket.write = cutting as typeof socket.write
}

function watchAnswers(watcher: Watcher): void {
  const responses = http.ServerResponse.prototype as unknown as Methods<http.ServerResponse>
  const end = responses['end'] as Method<http.ServerResponse>
  responses['end'] = function (...input) {
    const { method, url } = this.req
    if (method === 'POST' && url === '/v1/events' && this.statusCode === 202) {
      this.once('finish', () => {
        watcher.moment('accepted', 'after')
      })
    }
    return end.apply(this, input)
  }
}

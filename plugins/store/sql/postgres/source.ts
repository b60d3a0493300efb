import { requirePackages } from '../../../packages.ts'
import type { Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { ConnectionUse } from '../../contract.ts'

/** What is used of a client of `pg`. */
export interface PgClient {
  query(statement: PgStatement): Promise<PgAnswer | PgAnswer[]>
  on(event: 'error' | 'end', listener: OnError): unknown
  on(event: 'notification', listener: OnNotification): unknown
  off(event: 'error' | 'end' | 'notification', listener: OnError | OnNotification): unknown
}

/** Without a cause the connection ended as requested. */
type OnError = (cause?: Error) => void
type OnNotification = (message: PgNotification) => void

export interface PgStatement {
  readonly text: string
  readonly values?: unknown[]
  /** Maximum wait for the response. */
  readonly query_timeout?: Millis
  readonly types?: { getTypeParser(type: number): (text: string) => unknown }
}

export interface PgAnswer {
  /** The command tag, such as `COMMIT`. */
  readonly command: string
  readonly rows: object[]
}

export interface PgNotification {
  readonly channel: string
  readonly payload?: string | undefined
}

/** What is used of a pool of `pg`. */
export interface PgPool {
  connect(): Promise<PgClient & { release(broken?: Error): void }>
  end(): Promise<void>
  readonly options: { readonly max?: number }
  readonly totalCount?: number
  readonly idleCount?: number
  readonly waitingCount?: number
}

interface SequelizePool {
  readonly using?: number
  readonly available?: number
  readonly waiting?: number
}

/** What is used of a Sequelize instance of dialect `postgres`; its connections are clients of `pg`. */
export interface PgSequelize {
  readonly config: { readonly pool?: { readonly max?: number | undefined } | undefined }
  readonly connectionManager: {
    readonly pool?: SequelizePool
    getConnection(options: { type: 'write' }): Promise<object>
    releaseConnection(connection: object): void
    destroyConnection(connection: object): Promise<void>
  }
}

/** A connection from a pool, to be released. */
export interface ConnectionLease {
  readonly client: PgClient
  /** @param broken why it must not be used again */
  release(broken?: Error): void
}

/** A source of connections. */
export interface PgSource {
  acquire(): Promise<ConnectionLease>
  /** Undefined where the pool does not tell. */
  use?(): ConnectionUse | undefined
  /** Closes what was opened for the store only. */
  end(): Promise<void>
}

/** One for the membership, one for a unit of work, and one for its concurrent reads. */
const LEAST_CONNECTIONS = 3

/** @throws TypeError for a pool that is too small */
export function fromPool(pool: PgPool, end: () => Promise<void> = async () => undefined): PgSource {
  requireSize(pool.options.max)
  return {
    async acquire() {
      const client = await pool.connect()
      return {
        client,
        release(broken) {
          client.release(broken)
        },
      }
    },
    use() {
      const { totalCount, idleCount, waitingCount, options } = pool
      if (totalCount === undefined || idleCount === undefined) return undefined
      const busy = totalCount - idleCount
      return { busy, idle: idleCount, waiting: waitingCount ?? 0, most: options.max ?? totalCount }
    },
    end,
  }
}

/** @throws TypeError for a pool that is too small */
export function fromSequelize({ config, connectionManager }: PgSequelize): PgSource {
  requireSize(config.pool?.max)
  return {
    async acquire() {
      const client = (await connectionManager.getConnection({ type: 'write' })) as PgClient
      return {
        client,
        release(broken) {
          if (broken === undefined) connectionManager.releaseConnection(client)
          // Sequelize may have thrown it away by itself already.
          else void connectionManager.destroyConnection(client).catch(() => undefined)
        },
      }
    },
    use() {
      const { using, available, waiting = 0 } = connectionManager.pool ?? {}
      if (using === undefined || available === undefined) return undefined
      const { max = using + available } = config.pool ?? {}
      return { busy: using, idle: available, waiting, most: max }
    },
    end: async () => undefined,
  }
}

/** Maximum wait for a connection, new or from the pool. */
const CONNECT_WAIT: Millis = 5 * SECOND

/** A pool of its own, closed with the store. */
export async function fromUrl(url: string): Promise<PgSource> {
  requirePackages('A PostgreSQL database', ['pg'])
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: CONNECT_WAIT })
  // A connection that breaks while idle is replaced. Without a listener it would end the process.
  pool.on('error', () => undefined)
  // A server that shuts down may send the error together with its readiness, before the caller can listen.
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
  })
  return fromPool(pool, () => pool.end())
}

function requireSize(most: number | undefined): void {
  if (most !== undefined && most < LEAST_CONNECTIONS) {
    throw new TypeError(`the pool must allow at least ${LEAST_CONNECTIONS} connections`)
  }
}

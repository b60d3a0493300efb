import pg from 'pg'
import { startPostgres } from '../support/postgres.ts'
import type { Leftovers } from './leftovers.ts'

/** A durable PostgreSQL for a whole run, whose databases come and go. */
export interface BenchPostgres {
  readonly version: string
  /** An empty database, or a copy of one that nobody is connected to. Answers its URL. */
  create(from?: string): Promise<string>
  drop(url: string): Promise<void>
}

/** @throws Error for a server that would lose what it answered */
export async function openPostgres(leftovers: Leftovers): Promise<BenchPostgres> {
  const server = await startPostgres({ durable: true })
  leftovers.add(() => server.stop())
  const home = await server.createDatabase()
  await requireDurable(home)
  let made = 0

  return {
    version: (await ask(home, 'SHOW server_version'))[0]?.['server_version'] ?? '',
    async create(from) {
      made++
      const url = new URL(home)
      const name = `${nameOf(home)}_${made}`
      const copied = from === undefined ? '' : ` TEMPLATE ${nameOf(from)} STRATEGY FILE_COPY`
      await ask(home, `CREATE DATABASE ${name}${copied}`)
      url.pathname = name
      return url.href
    },
    async drop(url) {
      await ask(home, `DROP DATABASE IF EXISTS ${nameOf(url)} WITH (FORCE)`)
    },
  }
}

async function requireDurable(url: string): Promise<void> {
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const [row] = await ask(url, `SHOW ${name}`)
    if (row?.[name] !== 'on') throw new Error(`PostgreSQL's ${name} must be on to be measured`)
  }
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

async function ask(url: string, sql: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, string>>(sql)).rows
  } finally {
    await client.end()
  }
}

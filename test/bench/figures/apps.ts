import type { Client } from '../apps.ts'
import { APPS_ENV, makeApp, openClient } from '../apps.ts'
import type { Child } from '../child.ts'
import type { Figure, Values } from '../figure.ts'
import { CONNECTIONS } from '../figure.ts'
import { COUNT } from '../payload.ts'
import type { Database } from '../place.ts'
import type { BareAnswer } from '../roles/bare-accept.ts'
import type { BareRow } from '../roles/bare-read.ts'
import type { Load, LoadResult } from '../roles/load.ts'
import type { Round } from '../round.ts'
import { compare } from './reads.ts'

const CREATION = { template_id: 'blank' }

interface Served {
  readonly child: Child
  readonly origin: string
  readonly file: string
}

/** A daemon that sends nothing and carries out nothing that waits. */
export async function serveApps(round: Round, database: Database): Promise<Served> {
  const place = await round.place(database)
  const daemon = await round.daemon({ env: { ...place.env, ...APPS_ENV }, dispatch: false })
  return { ...daemon, file: place.file }
}

/** The same requests to bare Koa, which answers what the daemon answered once. */
async function loadBare(
  round: Round,
  load: Omit<Load, 'origin'>,
  answer: BareAnswer,
): Promise<LoadResult> {
  const child = round.start('bare-accept')
  const origin = await child.call<string>('start', answer)
  const result = await round.load({ ...load, origin })
  await child.end()
  return result
}

type Posting = Omit<Load, 'origin'>

const POSTING = {
  method: 'POST',
  status: 201,
  type: 'application/json',
  count: 1,
  rate: null,
} as const

/** An account for each connection, since one has 200 apps at most. */
async function measureCreate(round: Round, database: Database): Promise<Values> {
  const { child, origin } = await serveApps(round, database)
  const clients: Client[] = []
  while (clients.length < CONNECTIONS) clients.push(await openClient(origin))
  const [first] = clients
  const record = (await first?.ask('POST', '/v1/apps', CREATION)) ?? {}
  const load: Posting = {
    ...POSTING,
    path: '/v1/apps',
    key: clients.map(({ key }) => key),
    bodies: [JSON.stringify(CREATION)],
    connections: CONNECTIONS,
    seconds: round.seconds,
  }
  const own = await round.load({ ...load, origin })
  await child.end()
  const bare = await loadBare(round, load, { path: '/v1/apps', status: 201, record })
  return compare(own, bare)
}

/** One file is written anew, on the revision that the request before it made. */
const EDIT = `{"operations":[{"op":"write","path":"headline.txt","content":"Open ${COUNT} days"}],"base_revision":${COUNT}}`

async function measureEdit(round: Round, database: Database): Promise<Values> {
  const { child, origin } = await serveApps(round, database)
  const client = await openClient(origin)
  const apps: string[] = []
  while (apps.length < CONNECTIONS) apps.push(await makeApp(client))
  const path = apps.map((app) => `/v1/apps/${app}/edits`)
  const load: Posting = {
    ...POSTING,
    path,
    key: client.key,
    bodies: [EDIT],
    connections: CONNECTIONS,
    seconds: round.seconds,
  }
  const own = await round.load({ ...load, origin })
  const { data } = await client.ask<{ data: readonly object[] }>('GET', `${path[0]}?limit=1`)
  await child.end()
  const answer = { path: '/v1/apps/:id/edits', status: 201, record: data[0] ?? {} }
  const bare = await loadBare(round, load, answer)
  return compare(own, bare)
}

async function measureRead(round: Round): Promise<Values> {
  const { child, origin, file } = await serveApps(round, 'sqlite')
  const client = await openClient(origin)
  const path = `/v1/apps/${await makeApp(client)}`
  const reading = { method: 'GET', status: 200, path } as const
  const own = await round.load({ ...reading, origin, key: client.key })
  await child.end()
  const bare = round.start('bare-read')
  const row: BareRow = { file, table: 'keyhook_apps', path: '/v1/apps/:id' }
  return compare(own, await round.load({ ...reading, origin: await bare.call('startRow', row) }))
}

const BARE_POST = 'Koa and its router, the same record, not stored'
const DATABASES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

export const apps: readonly Figure[] = [
  ...(['sqlite', 'postgres'] as const).flatMap((database): readonly Figure[] => [
    {
      name: `app-create-${database}`,
      title: `apps created per second from a template, ${DATABASES[database]}`,
      baseline: BARE_POST,
      goals: [],
      takes: 9,
      measure: (round) => measureCreate(round, database),
    },
    {
      name: `edit-${database}`,
      title: `structured edits per second, each connection in its own app, ${DATABASES[database]}`,
      baseline: BARE_POST,
      goals: [],
      takes: 9,
      measure: (round) => measureEdit(round, database),
    },
  ]),
  {
    name: 'app-read',
    title: 'GET /v1/apps/{id} per second, one row, SQLite',
    baseline: 'Koa and its router, the same query',
    goals: [],
    takes: 8,
    measure: measureRead,
  },
]

import type { Client } from '../apps.ts'
import { makeApp, openClient } from '../apps.ts'
import type { Figure, Values } from '../figure.ts'
import { COUNT } from '../payload.ts'
import type { Round } from '../round.ts'
import { serveApps } from './apps.ts'

/** Files of the apps that are edited. */
const SIZES = [10, 1000, 10_000] as const
const MAX_OPERATIONS = 500

/** An app of so many files, all of the same few bytes, and the revision that it has. */
async function makeLarge(
  client: Client,
  files: number,
): Promise<{ app: string; revision: number }> {
  const app = await makeApp(client)
  const tree = await client.ask<{ files: readonly { path: string }[] }>(
    'GET',
    `/v1/apps/${app}/tree`,
  )
  let revision = 1
  const given = tree.files.map(({ path }) => path)
  const paths = Array.from(
    { length: files - given.length },
    (_, index) => `pages/page-${index}.html`,
  )
  for (let at = 0; at < paths.length; at += MAX_OPERATIONS) {
    const operations = paths
      .slice(at, at + MAX_OPERATIONS)
      .map((path) => ({ op: 'write', path, content: '<h1>A page</h1>' }))
    await client.ask('POST', `/v1/apps/${app}/edits`, { operations, base_revision: revision })
    revision += 1
  }
  return { app, revision }
}

/** Milliseconds of the median edit that writes one of them anew, one after the other. */
async function costAt(
  round: Round,
  origin: string,
  client: Client,
  files: number,
): Promise<number> {
  const { app, revision } = await makeLarge(client, files)
  const operation = `{"op":"write","path":"pages/page-0.html","content":"Open ${COUNT} days"}`
  const { p50 } = await round.load({
    origin,
    method: 'POST',
    path: `/v1/apps/${app}/edits`,
    status: 201,
    key: client.key,
    bodies: [`{"operations":[${operation}],"base_revision":${COUNT}}`],
    count: revision,
    connections: 1,
  })
  return p50
}

async function measure(round: Round): Promise<Values> {
  const { child, origin } = await serveApps(round, 'sqlite')
  const client = await openClient(origin)
  const costs: number[] = []
  for (const files of SIZES) costs.push(await costAt(round, origin, client, files))
  await child.end()
  const [few = NaN, more = NaN, most = NaN] = costs
  return {
    ratio: most / few,
    'ratio at 10^3': more / few,
    'ms at 10': few,
    'ms at 10^3': more,
    'ms at 10^4': most,
  }
}

export const editCost: Figure = {
  name: 'edit-cost',
  title: 'p50 of a structured edit of one file in an app of 10^4 files, SQLite',
  baseline: 'an app of 10 files',
  goals: [],
  takes: 20,
  measure,
}

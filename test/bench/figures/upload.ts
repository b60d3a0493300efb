import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeApp, openClient } from '../apps.ts'
import type { Figure, Values } from '../figure.ts'
import { COUNT } from '../payload.ts'
import type { Load } from '../roles/load.ts'
import type { Round } from '../round.ts'
import { serveApps } from './apps.ts'

/** Each has an app of its own, which takes 1 GiB. */
const UPLOADERS = 4
const BYTES = 20 * 1_048_576
const BOUNDARY = '----bench-boundary'

/** A file of text that is another each time. */
function multipartBody(): string {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="long.txt"\r\ncontent-type: text/plain\r\n\r\n`
  const text = `Number ${COUNT}: ${'It is a long text, and nobody reads it to the end.\n'.repeat(BYTES / 50)}`
  return `${head}${text.slice(0, BYTES)}\r\n--${BOUNDARY}--\r\n`
}

async function measure(round: Round): Promise<Values> {
  const { child, origin } = await serveApps(round, 'sqlite')
  const client = await openClient(origin)
  const path: string[] = []
  while (path.length < UPLOADERS) path.push(`/v1/apps/${await makeApp(client)}/files`)
  const uploading: Omit<Load, 'origin'> = {
    method: 'POST',
    path,
    status: 202,
    key: client.key,
    bodies: [multipartBody()],
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    count: 1,
    connections: UPLOADERS,
    seconds: round.seconds,
    rate: null,
  }
  const own = await round.load({ ...uploading, origin })
  await child.end()

  const folder = await mkdtemp(join(tmpdir(), 'keyhook-bench-'))
  round.leftovers.add(() => rm(folder, { recursive: true, force: true }))
  const plain = round.start('bare-upload')
  const bare = await round.load({ ...uploading, origin: await plain.call('start', folder) })
  const megabytes = (perSecond: number): number => (perSecond * BYTES) / 1e6
  return {
    ratio: own.perSecond / bare.perSecond,
    'MB/s': megabytes(own.perSecond),
    'bare MB/s': megabytes(bare.perSecond),
    'p50 ms': own.p50,
    'bare p50 ms': bare.p50,
  }
}

export const upload: Figure = {
  name: 'file-upload',
  title: `MB/s of 20 MiB text files by multipart, ${UPLOADERS} connections, SQLite`,
  baseline: 'Koa and its router, the same bytes streamed to a synced file',
  goals: [],
  takes: 12,
  measure,
}

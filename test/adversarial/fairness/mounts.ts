import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { z } from 'zod'
import { createKeyhook } from '../../../daemon/embed/index.ts'
import type { StreamEvent } from '../../../daemon/operations/operation.ts'
import { defineFamily } from '../../../daemon/operations/family.ts'
import { operation } from '../../../daemon/operations/operation.ts'
import type { Checks } from '../run.ts'

const READS = 60
/** Streams that one caller may have open. */
const STREAMS = 20

/** A stream in which nothing happens. */
const wait = operation({
  effect: 'stream',
  id: 'waiting.follow',
  summary: 'Follow nothing',
  method: 'GET',
  path: '/v1/waiting',
  access: { scope: 'waiting:read', pinned: 'refused' },
  agent: { toolset: 'waiting' },
  emits: ['waiting'],
  input: {},
  output: z.strictObject({ text: z.string() }),
  errors: [],
  example: { response: { text: 'nothing' } },
  run: ({ left }) => Promise.resolve(nothing(left)),
})

async function* nothing(left: AbortSignal): AsyncGenerator<StreamEvent<{ text: string }>> {
  await once(left, 'abort')
  yield { event: 'left', data: { text: 'nobody reads this' } }
}

const WAITING = defineFamily({
  name: 'waiting',
  scopes: { waiting: ['read'] },
  events: [],
  errors: { rows: {} },
  operations: [wait],
})

/** One Keyhook, mounted on two servers; answers what a GET over one of them is answered. */
async function openTwice(t: Test) {
  const keyhook = await createKeyhook({
    dataDir: t.testdir(),
    brand: 'shop',
    dispatch: false,
    rateReads: READS,
    families: [WAITING],
  })
  t.teardown(() => keyhook.stop())
  const ports: number[] = []
  for (const callback of [keyhook.callback(), keyhook.callback()]) {
    const server = createServer(callback).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    ports.push((server.address() as AddressInfo).port)
  }
  const { key } = await keyhook.as('a1').keys.create({ name: 'a', scopes: ['waiting:read'] })
  const headers = { authorization: `Bearer ${key}` }
  return async (at: number, path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${ports[at % 2]}${path}`, { headers })
}

/** As `429 rate_limited`; a stream that was opened is closed. */
async function outcomeOf(response: Response): Promise<string> {
  if (response.ok) {
    await response.body?.cancel()
    return String(response.status)
  }
  const { error } = (await response.json()) as { readonly error: { readonly code: string } }
  return `${response.status} ${error.code}`
}

export const MOUNT_CHECKS: Checks = {
  async F18(t, saw) {
    const get = await openTwice(t)
    const streams: Response[] = []
    for (let index = 0; index < STREAMS; index += 1) streams.push(await get(index, '/v1/waiting'))
    t.ok(streams.every(({ status }) => status === 200))
    saw(`${streams.length} streams`)
    const full = await get(0, '/v1/waiting')
    saw(await outcomeOf(full))
    const left = READS - STREAMS - 1
    const reads: Response[] = []
    for (let index = 0; index < left; index += 1) reads.push(await get(index, '/v1/keys/self'))
    t.ok(reads.every(({ status }) => status === 200))
    saw(await outcomeOf(await get(1, '/v1/keys/self')))
    for (const { body } of streams) await body?.cancel()
  },
}

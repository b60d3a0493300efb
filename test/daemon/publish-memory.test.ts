import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createKeyhook } from '../../daemon/embed/index.ts'
import { ask } from '../support/ask.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const REQUESTS = 10
const EVENT = {
  type: 'order.paid',
  data: { lines: Array.from({ length: 10_000 }, (_, line) => ({ line })) },
}
/** At least, of one event. */
const PARSED_BYTES = 480_000

async function usedBytes(): Promise<number> {
  await delay(100)
  collect()
  return process.memoryUsage().heapUsed
}

/** The same body with a type that is refused without a commit. */
const REFUSED = { ...EVENT, type: 'order.lost' }

await t.test('events that wait for their commit keep no parsed body', async (t) => {
  const keyhook = await createKeyhook({
    dataDir: t.testdir(),
    eventTypes: [EVENT.type],
    logLevel: 'silent',
  })
  const { key } = await keyhook.as('acct_1').keys.create({ name: 'a', scopes: ['events:write'] })
  const server = createServer(keyhook.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    await keyhook.stop()
  })
  const { port } = server.address() as AddressInfo
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  for (const published of [EVENT, { events: [EVENT] }]) {
    const body = Buffer.from(JSON.stringify(published))
    const send = (sent: Buffer | string) =>
      ask(`http://127.0.0.1:${port}/v1/events`, { method: 'POST', headers, body: sent })
    const publish = () => send(body)
    t.equal((await publish()).status, 202)
    let asked: readonly ReturnType<typeof publish>[] = []
    let held = NaN
    // Their commit begins after this one.
    await keyhook.transaction(async () => {
      const before = await usedBytes()
      asked = Array.from({ length: REQUESTS }, publish)
      // Bodies of an account are parsed in turn: those before it wait for their commit.
      t.equal((await send(JSON.stringify(REFUSED))).status, 400)
      held = (await usedBytes()) - before
    })
    t.ok(held < (REQUESTS * PARSED_BYTES) / 4, `${held} bytes`)
    t.strictSame(new Set((await Promise.all(asked)).map(({ status }) => status)), new Set([202]))
  }
})

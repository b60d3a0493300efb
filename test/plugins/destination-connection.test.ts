import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { messageOf } from '../../plugins/destinations/conformance/harness.ts'
import type { Connect } from '../../plugins/destinations/connection.ts'
import { createPublisher } from '../../plugins/destinations/connection.ts'
import type { DestinationOutcome } from '../../plugins/destinations/contract.ts'

const NEVER = new AbortController().signal
const PLACES = 64

/** A server whose confirmations are given by hand. */
function startServer() {
  const pending: { readonly account: string; confirm(outcome: DestinationOutcome): void }[] = []
  let connections = 0
  let open = 0
  const connect: Connect = async (lost) => {
    connections += 1
    open += 1
    let isOpen = true
    return {
      send: ({ account_id: account }) =>
        new Promise((resolve) => pending.push({ account, confirm: resolve })),
      async close() {
        if (!isOpen) return
        isOpen = false
        open -= 1
        lost()
        for (const { confirm } of pending.splice(0)) confirm({ ok: false, code: 'reset' })
      },
    }
  }
  return { connect, pending, connections: () => connections, open: () => open }
}

const send = (
  publisher: ReturnType<typeof createPublisher>,
  account_id: string,
  signal: AbortSignal = NEVER,
) => publisher.send(messageOf({ name: 'orders' }, { account_id }), signal)

await t.test(
  'accounts take places in turn, and who stops waiting leaves none behind',
  async (t) => {
    const { connect, pending } = startServer()
    const publisher = createPublisher(connect)
    t.teardown(() => publisher.close())
    for (let n = 0; n < PLACES; n++) void send(publisher, 'slow')
    await turn()
    await turn()
    t.equal(pending.length, PLACES, 'every place is taken')
    const stop = new AbortController()
    const gone = Array.from({ length: 500 }, () => send(publisher, 'gone', stop.signal))
    for (let n = 0; n < 100; n++) void send(publisher, 'many')
    void send(publisher, 'one')
    stop.abort(new Error('too late'))
    t.same(
      new Set((await Promise.all(gone)).map((outcome) => 'code' in outcome && outcome.code)),
      new Set(['aborted']),
    )
    for (const { confirm } of pending.splice(0, 3)) confirm({ ok: true })
    while (pending.length < PLACES) await turn()
    t.same(
      pending.slice(-3).map(({ account }) => account),
      ['many', 'one', 'many'],
      'one message of an account waits for one of another, not for all',
    )
  },
)

await t.test(
  'a server that does not confirm loses its connection, and so its places',
  async (t) => {
    const { connect, connections, open } = startServer()
    const publisher = createPublisher(connect, 50)
    const outcomes = await Promise.all(
      Array.from({ length: PLACES + 1 }, () => send(publisher, 'a', AbortSignal.timeout(10_000))),
    )
    t.same(
      new Set(outcomes.map((outcome) => 'code' in outcome && outcome.code)),
      new Set(['reset']),
    )
    t.equal(connections(), 2, 'the last message had a connection of its own')
    await publisher.close()
    t.equal(open(), 0)
  },
)

await t.test(
  'many messages wait for one connection, however often it fails at first',
  async (t) => {
    const server = startServer()
    let attempts = 0
    const publisher = createPublisher(async (lost) => {
      attempts += 1
      if (attempts < 3) {
        lost()
        throw new Error('not yet')
      }
      return server.connect(lost)
    })
    const sent = Array.from({ length: 50 }, async () => send(publisher, 'a'))
    while (server.pending.length < 50) await pause(5)
    for (const { confirm } of server.pending.splice(0)) confirm({ ok: true })
    t.ok((await Promise.all(sent)).every(({ ok }) => ok))
    t.equal(attempts, 3)
    t.equal(server.connections(), 1)
    await publisher.close()
    t.equal(server.open(), 0, 'nothing outlives it')
  },
)

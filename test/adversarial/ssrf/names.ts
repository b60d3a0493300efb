import { scrypt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { createResolver } from '../../../plugins/egress/resolve.ts'
import { SECOND } from '../../../lib/time.ts'
import { answerWith } from '../../support/receiver.ts'
import {
  clientFor,
  failed,
  NAME,
  OK,
  receiverAt,
  requestTo,
  resolvingTo,
} from '../../support/egress.ts'
import type { Checks } from '../run.ts'
import { startNameServer } from './name-server.ts'
import { watchSockets } from './sockets.ts'

const LOOPBACK = { ...failed('refused_address'), reason: 'address_loopback' }
const resolver = () => createResolver({ timeout: 2 * SECOND })

/** What names resolve to, and when. */
export const NAME_CHECKS: Checks = {
  async D02(t, saw) {
    const internal = await receiverAt(t, answerWith(OK), '127.0.0.1')
    const receiver = await receiverAt(t, answerWith(OK), '127.0.0.2', internal.port)
    const lookup = resolvingTo(['127.0.0.2'], ['127.0.0.1'])
    let asked = 0
    const resolve = (): Promise<readonly string[]> => {
      asked += 1
      return lookup()
    }
    const result = await clientFor(t, { resolve }).send(requestTo(receiver))
    if (result.ok) saw(String(result.status))
    t.equal(asked, 1)
    t.equal(receiver.connections, 1)
    t.equal(internal.connections, 0)
  },

  async D03(t, saw) {
    const internal = await receiverAt(t, answerWith(OK), '127.0.0.1')
    const receiver = await receiverAt(t, answerWith(OK), '127.0.0.2', internal.port)
    let now = 0
    const resolve = resolvingTo(['127.0.0.2'], ['127.0.0.1'])
    const client = clientFor(t, { resolve, clock: () => now })
    t.match(await client.send(requestTo(receiver)), { ok: true })
    now += 5 * SECOND
    t.match(await client.send(requestTo(receiver)), LOOPBACK)
    t.match(await client.send(requestTo(receiver)), LOOPBACK, 'also while the verdict holds')
    saw('refused_address')
    t.equal(internal.connections, 0)
    t.equal(receiver.requests.length, 1, 'the warm connection is not reused either')
  },

  async D07(t, saw) {
    const internal = await receiverAt(t, answerWith(OK), '127.0.0.1')
    const made = watchSockets(t)
    for (const [answers, reason] of [
      // Nobody answers at the first of them, which is permitted.
      [['127.0.0.2', '127.0.0.1'], 'address_loopback'],
      [['::1', '127.0.0.2'], 'address_loopback'],
      [['127.0.0.2', '::ffff:10.0.0.1'], 'address_private'],
      [['127.0.0.2', 'fe80::1%lo'], 'address_zone'],
    ] as const) {
      const client = clientFor(t, { resolve: resolvingTo(answers) })
      const result = await client.send(requestTo(internal))
      t.match(result, { ...failed('refused_address'), reason }, answers.join())
      if (!result.ok) saw(result.code)
    }
    t.equal(made.length, 0)
  },

  async D08(t, saw) {
    const { asked } = await startNameServer(t, {
      [NAME]: 'b.example.com',
      'b.example.com': 'c.example.com',
      'c.example.com': ['10.0.0.5'],
    })
    const made = watchSockets(t)
    t.same(await resolver()(NAME), ['10.0.0.5'])
    const result = await clientFor(t, { resolve: resolver() }).send(requestTo({ port: 8080 }))
    t.match(result, { ...failed('refused_address'), reason: 'address_private' })
    if (!result.ok) saw(result.code)
    t.equal(made.length, 0)
    t.same(new Set(asked), new Set([NAME]))
  },

  async D09(t, saw) {
    const internal = await receiverAt(t, answerWith(OK), '127.0.0.1')
    const receiver = await receiverAt(t, answerWith(OK), '127.0.0.2', internal.port)
    // Settled before anybody listens to it; what is judged then is handed to the socket synchronously.
    const settled = (address: string) => () => Promise.resolve([address])
    const refused = await clientFor(t, { resolve: settled('127.0.0.1') }).send(requestTo(internal))
    t.match(refused, LOOPBACK)
    if (!refused.ok) saw(refused.code)
    const sent = await clientFor(t, { resolve: settled('127.0.0.2') }).send(requestTo(receiver))
    if (sent.ok) saw(String(sent.status))
    t.equal(receiver.connections, 1)
    t.equal(internal.connections, 0)
  },

  async D10(t, saw) {
    process.env['LOCALDOMAIN'] = 'cluster.local'
    t.teardown(() => delete process.env['LOCALDOMAIN'])
    const { asked } = await startNameServer(t, {
      [`${NAME}.cluster.local`]: ['127.0.0.2'],
      'redis.cluster.local': ['127.0.0.2'],
    })
    const made = watchSockets(t)
    t.same(await resolver()('redis.cluster.local'), ['127.0.0.2'], 'by its whole name')
    const before = asked.length
    t.same(await resolver()('redis'), [])
    const result = await clientFor(t, { resolve: resolver() }).send(requestTo({ port: 8080 }))
    t.match(result, { ...failed('dns', 'not_found'), reason: 'no_answer' })
    if (!result.ok) saw(result.code)
    t.same(
      new Set(asked.slice(before)),
      new Set(['redis', NAME]),
      'asked as it is, and as nothing else',
    )
    t.equal(made.length, 0)
  },

  async D11(t, saw) {
    const receiver = await receiverAt(t, answerWith(OK))
    const server = await startNameServer(t, { [NAME]: ['127.0.0.2'] })
    server.hold()
    const brief = clientFor(t, { resolve: resolver() })
    const result = await brief.send(requestTo(receiver, { timeout: 200 }))
    t.match(result, failed('timeout', 'connect_timeout'))
    if (!result.ok) saw(result.code)
    await brief.close()
    t.pass('nothing is under way any more')

    // More look-ups than the thread pool has threads, and what needs a thread is done beside them.
    const clients = Array.from({ length: 8 }, () => clientFor(t, { resolve: resolver() }))
    const sends = clients.map((client) => client.send(requestTo(receiver, { timeout: 30_000 })))
    await promisify(scrypt)('a password', 'salt', 32)
    await readFile(new URL(import.meta.url))
    t.equal(receiver.connections, 0)
    server.letGo()
    for (const sent of await Promise.all(sends)) t.match(sent, { ok: true, status: 200 })
  },

  async D12(t, saw) {
    const receiver = await receiverAt(t, answerWith(OK))
    const permitted = (count: number) => Array.from({ length: count }, (_, at) => `127.0.1.${at}`)
    const send = (answers: readonly string[]) =>
      clientFor(t, { allow: '127.0.1.0/24,127.0.0.2', resolve: resolvingTo(answers) }).send(
        requestTo(receiver),
      )
    const made = watchSockets(t)
    for (const count of [200, 17]) {
      const result = await send(permitted(count))
      t.match(result, { ...failed('refused_address'), reason: 'too_many_answers' })
      if (!result.ok && result.reason !== undefined) saw(result.reason)
    }
    t.match(await send([...permitted(15), '127.0.0.1']), LOOPBACK, 'the last of sixteen')
    t.equal(made.length, 0)
    t.match(await send(['127.0.0.2', ...permitted(15)]), { ok: true, status: 200 })
  },
}

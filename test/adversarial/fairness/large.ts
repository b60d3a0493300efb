import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { eventsFamily } from '../../../daemon/families/events/family.ts'
import { STEP_BYTES } from '../../../daemon/queues/steps.ts'
import { until } from '../../support/daemon.ts'
import { signal } from '../../support/signal.ts'
import type { Asker, World } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const PAGES = 30
const BODIES = 20

/** Reads of pages of events that wait until `open`: whose they are, in the order in which they begin. */
function holdReads({ platform }: World) {
  const { events } = platform.store
  const begun: string[] = []
  const { promise: opened, resolve: open } = signal()
  const list: typeof events.list = async (query) => {
    begun.push(query.account_id)
    await opened
    return events.list(query)
  }
  Object.assign(platform.store, { events: { ...events, list } })
  return { begun, open }
}

/** How many requests have asked for a page. */
function countPages({ platform }: World): () => number {
  const { largePages } = platform.queues
  let count = 0
  Object.assign(platform.queues, {
    largePages: ((turn, read) => {
      count += 1
      return largePages(turn, read)
    }) satisfies typeof largePages,
  })
  return () => count
}

/** Calls `heard` for each large text that is parsed, with the iteration of the event loop it is parsed in. */
function watchParsing(heard: (iteration: number) => void): () => void {
  const { parse } = JSON
  let iteration = 0
  let isOver = false
  function tick(): void {
    iteration += 1
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  JSON.parse = (text: string, reviver?: Parameters<typeof parse>[1]): unknown => {
    if (text.length > STEP_BYTES) heard(iteration)
    return parse(text, reviver)
  }
  return () => {
    isOver = true
    JSON.parse = parse
  }
}

/** A connection that has sent all of a body but its last byte. */
async function sendMost(url: URL, key: string, body: string): Promise<Socket> {
  const socket = connect({ port: Number(url.port), host: url.hostname })
  await once(socket, 'connect')
  const head = [
    'POST /v1/keys HTTP/1.1',
    `Host: ${url.host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  const written = new Promise((resolve) => {
    socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`, resolve)
  })
  await written
  return socket
}

export const LARGE_CHECKS: Checks = {
  async F27(t, saw) {
    const world = await createWorld(t, { families: [eventsFamily] })
    const accounts = await Promise.all(Array.from({ length: 5 }, () => world.addAccount()))
    const [first, second, ...others] = accounts.map((account) => world.userOf(account))
    const { begun, open } = holdReads(world)
    const asked = countPages(world)
    const ask = (as: Asker | undefined) => world.request('GET', '/v1/events', { as: as ?? null })
    const crowd = [first, second].flatMap((as) => Array.from({ length: PAGES }, () => ask(as)))
    await until('the pages of both accounts are asked for', () => asked() === 2 * PAGES)
    const rest = others.map(ask)
    await until('all pages are asked for', () => asked() === 2 * PAGES + 3)
    saw(`${begun.length} at once`)
    open()
    const answers = await Promise.all([...crowd, ...rest])
    t.ok(answers.every(({ status }) => status === 200))
    const place = begun.indexOf(accounts[4]?.id ?? '')
    saw(place < 10 ? 'among the first ten' : `as number ${place + 1}`)
  },

  async F28(t, saw) {
    const world = await createWorld(t)
    const { key } = await world.mintKey({ scopes: ['keys:*'] })
    const body = JSON.stringify({ name: 'x'.repeat(STEP_BYTES) })
    const url = new URL(world.baseUrl)
    const sockets = await Promise.all(
      Array.from({ length: BODIES }, () => sendMost(url, key, body)),
    )
    const perIteration = new Map<number, number>()
    const end = watchParsing((iteration) => {
      perIteration.set(iteration, (perIteration.get(iteration) ?? 0) + 1)
    })
    t.teardown(end)
    const answers = sockets.map(async (socket) => {
      const [head] = (await once(socket, 'data')) as [Buffer]
      return head.toString().slice(9, 12)
    })
    for (const socket of sockets) socket.write(body.slice(-1))
    t.same(new Set(await Promise.all(answers)), new Set(['400']))
    end()
    const parsed = [...perIteration.values()].reduce((sum, count) => sum + count, 0)
    t.equal(parsed, BODIES)
    saw(`${Math.max(...perIteration.values())} in each iteration`)
    for (const socket of sockets) socket.destroy()
  },

  async F29(t, saw) {
    const world = await createWorld(t)
    const { parsing, bodies } = world.traffic
    const { key } = await world.mintKey({ scopes: ['keys:*'] })
    const body = JSON.stringify({ name: 'x'.repeat(STEP_BYTES) })
    let parsed = 0
    t.teardown(watchParsing(() => (parsed += 1)))
    const { promise: opened, resolve: open } = signal()
    const turn = parsing({ holder: 'another' }, () => opened)
    const socket = await sendMost(new URL(world.baseUrl), key, body)
    socket.write(body.slice(-1))
    await until('the body is held', () => bodies.used === body.length)
    socket.destroy()
    await until('the body is released', () => bodies.used === 0)
    open()
    await turn
    await parsing({ holder: 'another' }, async () => undefined)
    saw(parsed === 0 ? 'not parsed' : 'parsed')
  },
}

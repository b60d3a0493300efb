import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as httpRequest } from 'node:http'
import t from 'tap'
import { until } from '../support/daemon.ts'
import { createApp } from '../support/edits.ts'
import { plain } from '../support/hosted-apps.ts'
import { openHosting, PROBE_TOKEN } from '../support/hosting.ts'
import { observe, observedWorld } from '../support/observed.ts'

interface Usage {
  readonly as_of: string
  readonly meters: readonly {
    readonly meter: string
    readonly published: { readonly total: number }
    readonly preview: { readonly total: number }
  }[]
}

interface Sent {
  readonly path: string
  readonly status: number
  /** Of the body, as it came. */
  readonly bytes: number
}

/** Asks over a connection of its own; what comes is counted here. */
async function ask(
  port: number,
  host: string,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Sent> {
  const options = { port, host: '127.0.0.1', method, path, headers: { host, ...headers } }
  const asked = httpRequest({ ...options, agent: false })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let bytes = 0
  for await (const chunk of response) bytes += (chunk as Buffer).length
  return { path, status: response.statusCode ?? 0, bytes }
}

const page = plain(Buffer.alloc(5000, 'x'), 'text/html; charset=utf-8')
const film = plain(Buffer.alloc(70_000, 'y'), 'application/octet-stream')

void t.test('what is told of usage is what was asked for and sent', async (t) => {
  const world = await observedWorld(t)
  const { id } = await createApp(world)
  const first = observe(world)
  const second = observe(world)
  const site = { app_id: id, tree: { 'index.html': page, 'film.bin': film } }
  const daemons = await Promise.all(
    [first, second].map(async ({ observer }) => {
      const hosting = await openHosting(t, { observer })
      await hosting.publish('shop.localhost', site)
      await hosting.publish('preview--shop.localhost', { ...site, preview: true })
      return hosting
    }),
  )
  const [one, other] = daemons.map(({ port }) => port)
  const visit = (port = 0) => [
    ...Array.from({ length: 40 }, () => ask(port, 'shop.localhost', '/')),
    ask(port, 'shop.localhost', '/film.bin'),
    ask(port, 'shop.localhost', '/film.bin', { headers: { range: 'bytes=0-99' } }),
    ask(port, 'shop.localhost', '/', { method: 'HEAD' }),
    ask(port, 'shop.localhost', '/nothing.html'),
    ask(port, 'shop.localhost', '/?user=7'),
    ask(port, 'shop.localhost', '/', { method: 'POST' }),
  ]
  const published = await Promise.all([...visit(one), ...visit(other)])
  const preview = await Promise.all([
    ask(one ?? 0, 'preview--shop.localhost', '/'),
    ask(other ?? 0, 'preview--shop.localhost', '/nothing.html'),
  ])
  // None of these is a visitor of the app.
  await ask(one ?? 0, 'shop.localhost', '/', { headers: { 'keyhook-probe': PROBE_TOKEN } })
  await ask(one ?? 0, 'nobody.localhost', '/')

  const sums = (sent: readonly Sent[]) => ({
    requests: sent.length,
    errors: 0,
    not_found: sent.filter(({ status }) => status === 404).length,
    egress_bytes: sent.reduce((bytes, one) => bytes + one.bytes, 0),
  })
  // A client has the last byte before the server has heard of the end.
  const usage = async () => {
    await Promise.all([first.flush(), second.flush()])
    const { body } = await world.request<Usage>('GET', `/v1/apps/${id}/hosting-usage`)
    const totalsOf = (kind: 'published' | 'preview') =>
      Object.fromEntries(body.meters.map((one) => [one.meter, one[kind].total]))
    return { published: totalsOf('published'), preview: totalsOf('preview') }
  }
  const expected = { published: sums(published), preview: sums(preview) }
  let told = await usage()
  await until('all of it is told of', async () => {
    told = await usage()
    return (told.published['requests'] ?? 0) + (told.preview['requests'] ?? 0) >= 94
  })
  t.same(told, expected)
  t.equal(expected.published.requests, 92)
  t.equal(expected.published.not_found, 2)
  t.ok(expected.published.egress_bytes > 2 * (41 * 5000 + 70_100))

  const { body } = await world.request<{ data: readonly { request: Sent }[] }>(
    'GET',
    `/v1/apps/${id}/logs?limit=100`,
  )
  const places = (sent: readonly Sent[]) =>
    sent.map(({ path, status, bytes }) => `${path} ${status} ${bytes}`).sort()
  t.same(
    places(body.data.map(({ request }) => request)),
    places(
      [...published, ...preview].map((one) => ({ ...one, path: one.path.split('?')[0] ?? '' })),
    ),
  )
  await Promise.all([first.stop(), second.stop()])
})

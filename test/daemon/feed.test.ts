import t from 'tap'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { codeOf } from '../support/answer.ts'
import type { Page } from '../support/webhooks.ts'
import { shopWorld } from '../support/webhooks.ts'
import type { Answer, AnyBody, Asker, World } from '../support/world.ts'

interface Event extends AnyBody {
  readonly id: string
  readonly position: string
}

const open = (t: Parameters<typeof shopWorld>[0]): Promise<World> =>
  shopWorld(t, { families: [eventsFamily] })

const list = (world: World, query: string, as: Asker = world.user): Promise<Answer<Page<Event>>> =>
  world.request('GET', `/v1/events${query}`, { as })

async function publish(world: World, ...apps: readonly (string | null)[]): Promise<string[]> {
  const { engine } = world.platform
  const events = apps.map((app) =>
    engine.newEvent(world.account.id, 'app.deployed', {}, Date.now(), app),
  )
  await engine.outbox.publish(events)
  return events.map(({ id }) => id)
}

const idsOf = ({ body }: Answer<Page<Event>>): readonly string[] => body.data.map(({ id }) => id)

await t.test('who follows the feed misses nothing while many publish at once', async (t) => {
  const world = await open(t)
  const stranger = await world.addAccount()
  const { engine } = world.platform
  const published: string[] = []
  let publishing = 8
  async function publishOn(size: number): Promise<void> {
    for (let round = 0; round < 40; round += 1) {
      published.push(...(await publish(world, ...Array<null>(size).fill(null))))
      await engine.outbox.publish([engine.newEvent(stranger.id, 'app.deployed', {})])
    }
    publishing -= 1
  }
  const seen: Event[] = []
  let pages = 0
  async function follow(): Promise<void> {
    for (let after = ''; ;) {
      const finished = publishing === 0
      const { body } = await list(world, `?order=asc&limit=100${after}`)
      pages += 1
      seen.push(...body.data)
      const last = body.data.at(-1)
      if (last !== undefined) after = `&after=${last.position}`
      // Only a page that was asked for after the last commit can be the last.
      else if (finished) return
    }
  }
  await Promise.all([follow(), ...[1, 2, 3, 5, 8, 13, 21, 34].map(publishOn)])
  t.equal(published.length, 40 * 87)
  t.same(seen.map(({ id }) => id).sort(), published.sort())
  const places = await Promise.all(
    seen.map(async ({ id }) =>
      Number((await world.platform.store.events.get(world.account.id, id))?.cursor),
    ),
  )
  t.same(
    places,
    places.toSorted((a, b) => a - b),
  )
  t.comment(`${seen.length} events over ${pages} pages`)
})

await t.test('cursors go through the feed too, and its end is an empty page', async (t) => {
  const world = await open(t)
  const ids = await publish(world, ...Array<null>(7).fill(null))
  const seen: string[] = []
  let query = '?order=asc&limit=3'
  for (let more = true; more;) {
    const page = await list(world, query)
    seen.push(...idsOf(page))
    query = `?order=asc&limit=3&cursor=${page.body.next_cursor}`
    more = page.body.has_more
  }
  t.same(seen, ids)
  const last = (await list(world, '?order=asc')).body.data.at(-1)
  const end = await list(world, `?order=asc&after=${last?.position}`)
  t.same(end.body, { data: [], has_more: false, next_cursor: null })
  const [next] = await publish(world, null)
  t.same(idsOf(await list(world, `?order=asc&after=${last?.position}`)), [next])
})

await t.test('a place goes with the feed alone, and a forged one is refused', async (t) => {
  const world = await open(t)
  await publish(world, null, null)
  const { position } = (await list(world, '?order=asc')).body.data[0] ?? { position: '' }
  const { next_cursor } = (await list(world, '?order=asc&limit=1')).body
  for (const query of [
    `?after=${position}`,
    `?order=desc&after=${position}`,
    `?order=asc&after=${position}&cursor=${next_cursor}`,
    `?order=asc&after=${'1'.repeat(161)}`,
    '?order=up',
  ]) {
    t.equal(codeOf(await list(world, query)), '400 invalid_request', query)
  }
  const places = ['', 'x', '-1', '+1', '%201', '1.5', '0x1', '1e3', "1'--", '9'.repeat(16), '%00']
  for (const place of places) {
    const refused = await list(world, `?order=asc&after=${place}`)
    t.equal(codeOf(refused), '400 invalid_cursor', place)
  }
  const forge = (text: string): string => Buffer.from(text).toString('base64url')
  const mark = Buffer.from(String(next_cursor), 'base64url').toString().slice(0, 12)
  for (const cursor of [forge(`${mark}x`), forge(`${mark}-1`), forge(`${mark}1'--`), forge('1')]) {
    const refused = await list(world, `?order=asc&cursor=${cursor}`)
    t.equal(codeOf(refused), '400 invalid_cursor', cursor)
  }
  for (const query of ['?order=desc', '?', '?order=asc&type=app.deployed']) {
    const refused = await list(world, `${query}&cursor=${next_cursor}`)
    t.equal(codeOf(refused), '400 invalid_cursor', `a cursor of another list at ${query}`)
  }
})

await t.test('a pinned key follows its apps alone', async (t) => {
  const world = await open(t)
  const [first, , , fourth] = await publish(world, 'a1', 'a2', null, 'a1')
  const { key } = await world.mintKey({ scopes: ['events:read'], apps: ['a1'] })
  const page = await list(world, '?order=asc', key)
  t.same(idsOf(page), [first, fourth])
  const after = page.body.data[0]?.position
  t.same(idsOf(await list(world, `?order=asc&after=${after}`, key)), [fourth])
  const stranger = world.userOf(await world.addAccount())
  t.equal(codeOf(await list(world, `?order=asc&after=${after}`, stranger)), '400 invalid_cursor')
})

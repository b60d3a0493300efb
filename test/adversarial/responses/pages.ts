import { paging } from '../../../daemon/families/cursor.ts'
import { PAGE_BYTES } from '../../../daemon/limits/amounts.ts'
import { insertEdits, sampleEdit } from '../../platform/edit-samples.ts'
import type { EventReads } from '../../../plugins/store/contract/events.ts'
import type { Checks } from '../run.ts'
import type { World } from '../../support/world.ts'
import { openWorld, publishLarge } from './world.ts'

const EVENTS = 100

interface Listed {
  readonly data: readonly { readonly id: string; readonly position: string }[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** Follows a list to its end; answers its pages, and the largest page's bytes. */
async function follow(
  world: World,
  key: string,
  path: (last: Listed | undefined) => string,
): Promise<{ readonly pages: readonly Listed[]; readonly largest: number }> {
  const pages: Listed[] = []
  let largest = 0
  do {
    const { status, body } = await world.request<Listed>('GET', path(pages.at(-1)), { as: key })
    if (status !== 200) throw new Error(`a page was ${status}`)
    pages.push(body)
    largest = Math.max(largest, Buffer.byteLength(JSON.stringify(body.data)))
  } while (pages.at(-1)?.has_more === true && pages.length < EVENTS)
  return { pages, largest }
}

const idsOf = (pages: readonly Listed[]): string[] =>
  pages.flatMap(({ data }) => data.map(({ id }) => id))

export const PAGE_CHECKS: Checks = {
  async R01(t, saw) {
    const world = await openWorld(t)
    const { key } = world
    const ids = await publishLarge(world, key, EVENTS)
    const lists: readonly [readonly string[], (last: Listed | undefined) => string][] = [
      [
        ids.toReversed(),
        (last) => `/v1/events?limit=100${last ? `&cursor=${last.next_cursor}` : ''}`,
      ],
      [ids, (last) => `/v1/events?limit=100&order=asc${last ? `&cursor=${last.next_cursor}` : ''}`],
      [
        ids,
        (last) =>
          `/v1/events?limit=100&order=asc${last ? `&after=${last.data.at(-1)?.position}` : ''}`,
      ],
    ]
    for (const [expected, path] of lists) {
      const { pages, largest } = await follow(world, key, path)
      t.ok(largest <= PAGE_BYTES, `${largest} bytes`)
      t.same(idsOf(pages), expected, 'each once, in order')
      // 250 KB fit eight times.
      t.equal(pages.length, Math.ceil(EVENTS / 8))
      t.equal(pages.at(-1)?.next_cursor, null)
    }
    saw('200')
  },

  async R02(t) {
    const world = await openWorld(t)
    await publishLarge(world, world.key, EVENTS)
    const { events } = world.platform.store as { readonly events: EventReads }
    const list = events.list.bind(events)
    let most = 0
    Object.assign(events, {
      async list(query: Parameters<typeof list>[0]) {
        const page = await list(query)
        const bytes = page.rows.reduce((sum, { body }) => sum + body.length, 0)
        most = Math.max(most, bytes)
        return page
      },
    })
    await world.request('GET', '/v1/events?limit=100', { as: world.key })
    t.ok(most > PAGE_BYTES / 2, 'a page was read')
    t.ok(most <= PAGE_BYTES + 262_144, `${most} bytes were read`)
  },

  async R03(t) {
    const list = { list: 'things' }
    const rows = ['a', 'b', 'c'].map((id) => ({
      id,
      text: id === 'c' ? '' : 'x'.repeat(PAGE_BYTES),
    }))
    const answer = (from: number, cursor?: string) =>
      paging({ cursor }, list).answer(
        { rows: rows.slice(from), more: false },
        ({ id }) => id,
        (row) => row,
      )
    const first = answer(0)
    t.same([first.data.map(({ id }) => id), first.has_more], [['a'], true])
    t.equal(paging({ cursor: first.next_cursor ?? '' }, list).after, 'a')
    const second = answer(1)
    t.same([second.data.map(({ id }) => id), second.has_more], [['b'], true])
    const last = answer(2)
    t.same([last.data.map(({ id }) => id), last.has_more, last.next_cursor], [['c'], false, null])
  },

  async R04(t, saw) {
    const world = await openWorld(t)
    const { body: app } = await world.request<{ id: string }>('POST', '/v1/apps', {
      body: { template_id: 'blank' },
    })
    // 32,768 characters of four bytes.
    const prompt = '🙂'.repeat(16_384) + 'x'.repeat(16_384)
    const ids = Array.from({ length: EVENTS }, (_, index) => `edit_${100 + index}`)
    const { account } = world
    await insertEdits(
      world.platform.store,
      ...ids.map((id) =>
        sampleEdit(id, { app_id: app.id, account_id: account.id, status: 'canceled', prompt }),
      ),
    )
    const { pages, largest } = await follow(world, world.key, (last) => {
      const cursor = last === undefined ? '' : `&cursor=${last.next_cursor}`
      return `/v1/apps/${app.id}/edits?limit=100&kind=prompt${cursor}`
    })
    t.ok(largest <= PAGE_BYTES, `${largest} bytes`)
    t.ok(pages.length > 3)
    t.same(
      idsOf(pages).filter((id) => id.startsWith('edit_')),
      ids.toReversed(),
    )
    saw('200')
  },
}

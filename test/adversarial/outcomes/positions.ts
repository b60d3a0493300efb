import { join } from 'node:path'
import { openEventPositions } from '../../../daemon/events/positions.ts'
import { eventsFamily } from '../../../daemon/families/events/family.ts'
import { openSqliteStore } from '../../../plugins/store/open.ts'
import { FEED, sampleEvent } from '../../../plugins/store/conformance/samples.ts'
import { codeOf } from '../../support/answer.ts'
import { shopWorld } from '../../support/webhooks.ts'
import type { Page } from '../../support/webhooks.ts'
import type { Answer, AnyBody, World } from '../../support/world.ts'
import type { Checks } from '../run.ts'

interface Event extends AnyBody {
  readonly id: string
  readonly position: string
}

type Account = World['account']
type Shown = Answer<Page<Event>>

const NEIGHBOUR = 'neighbour'
const UPGRADED = 'upgraded'

export const POSITION_CHECKS: Checks = {
  async O15(t, saw) {
    const folder = t.testdir()
    // A database of the release before, in which both accounts published.
    const { store } = await openSqliteStore(join(folder, 'keyhook.sqlite'))
    for (const [index, account_id] of [UPGRADED, NEIGHBOUR, UPGRADED].entries()) {
      const event = sampleEvent(`evt_old_${index}`, { account_id })
      await store.publish(() => [{ event, deliveries: [] }])
    }
    const { rows: old } = await store.events.list({ ...FEED, account_id: UPGRADED })
    await store.close()

    const world = await shopWorld(
      { testdir: () => folder, teardown: (handler) => t.teardown(handler) },
      { families: [eventsFamily] },
    )
    const account = await world.addAccount({ id: UPGRADED })
    const neighbour = await world.addAccount({ id: NEIGHBOUR })
    const list = async (query: string, of: Account = account): Promise<Shown> => {
      const path = `/v1/events?order=asc${query}`
      const shown = await world.request<Page<Event>>('GET', path, { as: world.userOf(of) })
      saw(shown.status === 200 ? '200' : codeOf(shown))
      return shown
    }
    const idsOf = ({ body }: Shown): readonly string[] => body.data.map(({ id }) => id)
    const { engine } = world.platform
    const publish = async (of: Account, times: number): Promise<void> => {
      const made = Array.from({ length: times }, () => engine.newEvent(of.id, 'app.deployed', {}))
      await engine.outbox.publish(made)
    }

    // The neighbour publishes 1, 2, 3 and so on in between.
    for (let times = 1; times <= 12; times += 1) {
      await publish(account, 1)
      await publish(neighbour, times)
    }
    const all = (await list('&limit=100')).body.data
    const positions = all.map(({ position }) => position)
    t.equal(new Set(positions).size, 14)
    for (const position of positions) t.match(position, /^pos_[\w-]{86}$/, 'of one form and length')
    t.not(positions.join(), positions.toSorted().join(), 'the text has no order')
    t.same((await list('&limit=100')).body.data, all, 'the same event has the same position')
    const shown = await world.request('GET', `/v1/events/${all[0]?.id}`, {
      as: world.userOf(account),
    })
    t.equal(shown.body['position'], positions[0])

    // Positions of another account, and changed ones, lead nowhere.
    const foreign = (await list('&limit=1', neighbour)).body.data[0]?.position ?? ''
    const [first = ''] = positions
    const swapped = first.slice(0, 9) + (first[9] === 'A' ? 'B' : 'A') + first.slice(10)
    const refused = [foreign, swapped, first.slice(0, -4), first.slice(4), 'pos_', `${first}AAAA`]
    for (const position of refused) {
      t.equal(codeOf(await list(`&after=${position}`)), '400 invalid_cursor', position)
    }

    // Plain places work as far as they were issued: with three events, up to 3.
    const ids = all.map(({ id }) => id)
    for (const [index, { cursor }] of old.entries()) {
      t.same(idsOf(await list(`&limit=100&after=${cursor}`)), ids.slice(index + 1))
    }
    for (const guess of [4, 5, 50, 1e6]) {
      t.equal(codeOf(await list(`&after=${guess}`)), '400 invalid_cursor', `${guess}`)
    }

    // Cursors hide places in the same way, and old ones work as far.
    const { next_cursor } = (await list('&limit=1')).body
    const inside = Buffer.from(String(next_cursor), 'base64url').toString()
    t.equal(inside.slice(12), first, 'behind the mark of the list')
    const cursorAt = (place: number): string =>
      Buffer.from(inside.slice(0, 12) + String(place)).toString('base64url')
    t.same(idsOf(await list(`&limit=100&cursor=${cursorAt(1)}`)), ids.slice(1))
    t.equal(codeOf(await list(`&cursor=${cursorAt(4)}`)), '400 invalid_cursor')

    const followed: string[] = []
    for (let after = '', pages = 0; pages < 20; pages += 1) {
      const { data } = (await list(`&limit=3${after}`)).body
      if (data.length === 0) break
      followed.push(...data.map(({ id }) => id))
      after = `&after=${data.at(-1)?.position}`
    }
    t.same(followed, ids, 'a consumer misses nothing')

    // Every process of the database reads what another one issued.
    const again = await openEventPositions(world.platform.store, world.platform.random)
    t.equal(again.print(account.id, old[0]?.cursor ?? ''), first)
  },
}

import { request } from 'node:http'
import type { Test } from 'tap'
import { editsFamily } from '../../../daemon/families/edits/family.ts'
import { processFiles, sampleChunk, sampleFile } from '../../platform/file-samples.ts'
import type { AccountRecord } from '../../../plugins/store/contract/accounts.ts'
import type { Passage } from '../../../plugins/edits/contract.ts'
import { createMemoryEditor } from '../../../plugins/edits/memory.ts'
import { until } from '../../support/daemon.ts'
import { ask, startWorker, untilEnded } from '../../support/edits.ts'
import type { Knowledge } from '../../support/knowledge.ts'
import { createKnowledge } from '../../support/knowledge.ts'
import { signal } from '../../support/signal.ts'
import type { Checks } from '../run.ts'

const BODY = { query: 'alpha' }

/** A world with an app of one passage, whose searches wait in the store until `open`. */
async function openSearches(t: Test, options: Parameters<typeof createKnowledge>[1] = {}) {
  const world = await createKnowledge(t, options)
  const { account, app, platform } = world
  await processFiles(platform.store, {
    file: sampleFile('file_1', { app_id: app, account_id: account.id }),
    chunks: [sampleChunk(0, 'alpha')],
  })
  const { files } = platform.store
  const { accounts } = platform.queues.searches
  const begun: string[] = []
  let asked = 0
  let ended = 0
  const { promise: opened, resolve: open } = signal()
  t.teardown(async () => open())
  const search: typeof files.search = async (query) => {
    begun.push(query.app_id)
    await opened
    return files.search(query)
  }
  Object.assign(platform.store, { files: { ...files, search } })
  Object.assign(platform.queues.searches, {
    accounts: ((turn, work) => {
      asked += 1
      return accounts(turn, work).finally(() => (ended += 1))
    }) satisfies typeof accounts,
  })
  return {
    world,
    begun,
    open,
    search: (of: { readonly app: string; readonly account: AccountRecord } = { app, account }) =>
      world.request('POST', `/v1/apps/${of.app}/files/search`, {
        as: world.userOf(of.account),
        body: BODY,
      }),
    arrive: (count: number) => until(`${count} searches have come`, () => asked >= count),
    ended: () => ended,
  }
}

/** An app of another account. */
async function addOther({ addAccount, userOf, request }: Knowledge) {
  const account = await addAccount()
  const given = { as: userOf(account), body: { template_id: 'blank' } }
  const { body } = await request('POST', '/v1/apps', given)
  return { account, app: String(body['id']) }
}

export const SEARCH_CHECKS: Checks = {
  async N05(t, saw) {
    const { world, begun, search, open, arrive } = await openSearches(t)
    const other = await addOther(world)
    const flood = Array.from({ length: 11 }, () => search())
    await arrive(11)
    const twelfth = search()
    await arrive(12)
    const foreign = search(other)
    await until('both accounts search', () => begun.includes(other.app))
    t.same(begun, [world.app, other.app])
    saw('one at a time')
    open()
    saw(`${(await twelfth).status} to the twelfth`)
    saw(`${(await foreign).status} to another account`)
    t.same(new Set((await Promise.all(flood)).map(({ status }) => status)), new Set([200]))
  },

  async N06(t, saw) {
    const { world, begun, search, open, arrive, ended } = await openSearches(t)
    const { key } = await world.mintKey({ scopes: ['files:read'] })
    const first = search()
    await arrive(1)
    const path = `${world.baseUrl}/v1/apps/${world.app}/files/search`
    const left = request(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    left.on('error', () => undefined)
    left.end(JSON.stringify(BODY))
    await arrive(2)
    left.destroy()
    await until('it waits no more', () => ended() === 1)
    open()
    t.match(await first, { status: 200 })
    t.match(await search(), { status: 200 })
    t.equal(begun.length, 2)
    saw('not begun')
  },

  async N07(t, saw) {
    const { world, begun, search, open, arrive } = await openSearches(t)
    const others = [await addOther(world), await addOther(world), await addOther(world)]
    const all = [search(), ...others.map(search)]
    await arrive(4)
    await world.request('GET', '/v1/apps')
    saw(`${begun.length} at once`)
    open()
    t.same(new Set((await Promise.all(all)).map(({ status }) => status)), new Set([200]))
    t.equal(begun.length, 4)
  },

  async N08(t, saw) {
    const shown: (readonly Passage[])[] = []
    const editor = createMemoryEditor({
      async script(_task, tools) {
        shown.push(await tools.passages('alpha', 3))
        return [{ op: 'write', path: 'a.html', content: 'a' }]
      },
    })
    const { world, begun, search, open, arrive } = await openSearches(t, {
      families: [editsFamily],
      editor,
    })
    const flood = Array.from({ length: 11 }, () => search())
    await arrive(11)
    startWorker(t, world)
    const edit = await ask(world, world.app, 'colours')
    await arrive(12)
    t.equal(begun.length, 1)
    saw('not begun')
    open()
    t.match(await untilEnded(world, edit.body), { status: 'completed' })
    await Promise.all(flood)
    t.match(shown, [[{ text: 'alpha' }]])
    saw('passages')
  },
}

import t from 'tap'
import { collectGarbage } from '../../daemon/families/apps/garbage-collection.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { startAppGarbageCollection } from '../../daemon/worker/app-garbage-collection.ts'
import { HOUR, MINUTE } from '../../lib/time.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { createClock } from '../support/clock.ts'
import type { Knowledge } from '../support/knowledge.ts'
import { createKnowledge } from '../support/knowledge.ts'
import { until } from '../support/processing.ts'

/** A world whose time goes on when it is told to, and the digests of what an app keeps. */
async function openWorld(t: Parameters<typeof createKnowledge>[0]) {
  const clock = createClock(Date.now())
  const world = await createKnowledge(t, { clock })
  const bytes = bytesOf(world)
  const clearing = startAppGarbageCollection(world.platform, createLog('silent'))
  t.teardown(() => clearing.stop())
  return {
    ...world,
    bytes,
    clock,
    clearing,
    async kept() {
      const digests: string[] = []
      for await (const { sha256 } of bytes.list(world.app)) digests.push(sha256)
      return digests
    },
    async send(content: string) {
      const [file] = (await world.upload([['a.md', content]])).body.data
      return { path: `/v1/apps/${world.app}/files/${file?.id}`, sha256: String(file?.['sha256']) }
    },
  }
}

function bytesOf({ platform }: Knowledge): AppBytes {
  if (platform.plugins.appBytes === undefined) throw new Error('the world keeps no bytes')
  return platform.plugins.appBytes
}

await t.test('a file that is deleted is gone, and its bytes an hour later', async (t) => {
  const { send, kept, request, clock } = await openWorld(t)
  const before = await kept()
  const { path, sha256 } = await send('of nobody else')
  t.ok((await kept()).includes(sha256))
  t.match(await request('DELETE', path), { status: 200, body: { sha256 } })
  const gone = { status: 404, body: { error: { code: 'file_not_found' } } }
  for (const method of ['GET', 'DELETE']) t.match(await request(method, path), gone)
  await clock.advance(HOUR)
  t.ok((await kept()).includes(sha256), 'an upload of the same may be under way')
  await clock.advance(MINUTE)
  await until(async () => !(await kept()).includes(sha256))
  t.same(await kept(), before)
})

await t.test('bytes that a revision of the app has as well stay, or another upload', async (t) => {
  const { send, kept, request, clock, app } = await openWorld(t)
  const content = `/v1/apps/${app}/content?path=index.html`
  const page = await request('GET', content)
  const { path, sha256 } = await send(String(page.body['content']))
  t.equal(sha256, page.body['sha256'])
  const other = await send('and of another')
  const again = await send('deleted, and uploaded again')
  for (const one of [path, other.path, again.path]) await request('DELETE', one)
  await clock.advance(30 * MINUTE)
  const { sha256: renewed } = await send('deleted, and uploaded again')
  t.equal(renewed, again.sha256)
  await clock.advance(HOUR)
  await until(async () => !(await kept()).includes(other.sha256))
  t.ok((await kept()).includes(sha256))
  t.ok((await kept()).includes(renewed))
  t.same((await request('GET', content)).body, page.body)
})

await t.test('what is deleted while an app waits to be looked through goes later', async (t) => {
  const { send, kept, request, clock } = await openWorld(t)
  const first = await send('the first')
  await request('DELETE', first.path)
  await clock.advance(HOUR)
  const second = await send('the second')
  await request('DELETE', second.path)
  await clock.advance(MINUTE)
  await until(async () => !(await kept()).includes(first.sha256))
  t.ok((await kept()).includes(second.sha256), 'it came lately')
  await clock.advance(HOUR + MINUTE)
  await until(async () => !(await kept()).includes(second.sha256))
})

await t.test('what a refused upload has left goes as well', async (t) => {
  const { upload, platform, request, kept, clock, app } = await openWorld(t)
  const { write } = platform.store
  const before = await kept()
  // The app is archived after its file is kept, and before the record would be made.
  Object.assign(platform.store, {
    write: async (...given: Parameters<typeof write>) => {
      Object.assign(platform.store, { write })
      await request('DELETE', `/v1/apps/${app}`)
      return write(...given)
    },
  })
  t.match(await upload([['a.md', 'too late']]), {
    status: 409,
    body: { error: { code: 'app_archived' } },
  })
  t.equal((await kept()).length, before.length + 1)
  await clock.advance(HOUR + MINUTE)
  await until(async () => (await kept()).length === before.length)
  t.same(await kept(), before)
})

await t.test('an app of many trees is left to the night', async (t) => {
  const { send, kept, request, clock, app, bytes, platform } = await openWorld(t)
  const { store } = platform
  const current = await store.apps.revision(app, 1)
  if (current === undefined) throw new Error('no revision')
  const { path, sha256 } = await send('of nobody else')
  await request('DELETE', path)
  for (let number = 2; number <= 201; number++) {
    const tree = JSON.stringify({ files: [], config: [['number', String(number)]] })
    const { sha256: digest } = await bytes.put(app, Buffer.from(tree))
    const revision = { ...current, number, tree: digest }
    await store.write((tx) => tx.apps.advance(revision, number - 1))
  }
  await clock.advance(2 * HOUR)
  t.ok((await kept()).includes(sha256))
  await collectGarbage(store, bytes, clock.now())
  t.notOk((await kept()).includes(sha256))
})

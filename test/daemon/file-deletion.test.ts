import t from 'tap'
import { collectApps } from '../../daemon/families/apps/collect.ts'
import { HOUR } from '../../lib/time.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { createClock } from '../support/clock.ts'
import type { Knowledge } from '../support/knowledge.ts'
import { createKnowledge } from '../support/knowledge.ts'

/** A world whose time goes on when it is told to, and the digests of what an app keeps. */
async function openWorld(t: Parameters<typeof createKnowledge>[0]) {
  const clock = createClock(Date.now())
  const world = await createKnowledge(t, { clock })
  const bytes = bytesOf(world)
  return {
    ...world,
    bytes,
    clock,
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
  if (platform.appBytes === undefined) throw new Error('the world keeps no bytes')
  return platform.appBytes
}

await t.test('a file that is deleted is gone, and its bytes with it', async (t) => {
  const { send, kept, request, clock } = await openWorld(t)
  const before = await kept()
  const { path, sha256 } = await send('of nobody else')
  t.ok((await kept()).includes(sha256))
  await clock.advance(2 * HOUR)
  t.match(await request('DELETE', path), { status: 200, body: { sha256 } })
  t.same(await kept(), before)
  const gone = { status: 404, body: { error: { code: 'file_not_found' } } }
  for (const method of ['GET', 'DELETE']) t.match(await request(method, path), gone)
})

await t.test('bytes that a revision of the app has as well stay', async (t) => {
  const { send, kept, request, clock, app } = await openWorld(t)
  const page = await request('GET', `/v1/apps/${app}/content?path=index.html`)
  const { path, sha256 } = await send(String(page.body['content']))
  t.equal(sha256, page.body['sha256'])
  await clock.advance(2 * HOUR)
  t.match(await request('DELETE', path), { status: 200 })
  t.ok((await kept()).includes(sha256))
  t.same((await request('GET', `/v1/apps/${app}/content?path=index.html`)).body, page.body)
})

await t.test('bytes that came lately are left to the collection', async (t) => {
  const { send, kept, request, clock, platform, bytes } = await openWorld(t)
  const { path, sha256 } = await send('of an hour')
  await request('DELETE', path)
  t.ok((await kept()).includes(sha256), 'an upload of the same may be under way')
  const { sha256: named } = await send('of somebody')
  await collectApps(platform.store, bytes, clock.now() + 2 * HOUR)
  t.notOk((await kept()).includes(sha256))
  t.ok((await kept()).includes(named))
})

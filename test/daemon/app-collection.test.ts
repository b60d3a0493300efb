import t from 'tap'
import { collectGarbage } from '../../daemon/families/apps/garbage-collection.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { DAY, HOUR } from '../../lib/time.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { FileRecord } from '../../plugins/platform/contract/files.ts'
import type { AnyBody } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

/** A world with one app, the app's bytes, and a round of collection some time from now. */
async function appWorld(t: Parameters<typeof createWorld>[0]) {
  const world = await createWorld(t, { families: [appsFamily] })
  const {
    store,
    plugins: { appBytes },
    clock,
  } = world.platform
  if (appBytes === undefined) throw new Error('the world keeps no bytes')
  const body = { template_id: 'blank' }
  const made = await world.request<AnyBody>('POST', '/v1/apps', { body })
  return {
    ...world,
    bytes: appBytes,
    id: String(made.body['id']),
    collect: (later: number) => collectGarbage(store, appBytes, clock.now() + later),
  }
}

/** A file whose bytes nobody has looked at yet. */
const QUEUED: Omit<FileRecord, 'app_id' | 'account_id' | 'sha256' | 'size'> = {
  id: '018cc251-f400-7000-8000-000000000001',
  name: 'hours.txt',
  content_type: 'text/plain',
  status: 'queued',
  stage: null,
  done: 0,
  total: null,
  chunks: null,
  characters: null,
  error: null,
  attempts: 0,
  created_by: { type: 'user', id: 'usr_1' },
  created_at: 0,
  processed_at: null,
}

async function digestsOf(bytes: AppBytes, id: string): Promise<readonly string[]> {
  const digests: string[] = []
  for await (const { sha256 } of bytes.list(id)) digests.push(sha256)
  return digests
}

void t.test('what a revision names stays, and what nothing names goes after an hour', async (t) => {
  const { bytes, id, collect } = await appWorld(t)
  const named = await digestsOf(bytes, id)
  await bytes.put(id, Buffer.from('of an edit that was refused'))
  const reborn = 'abcdefgh2345'
  await bytes.put(reborn, Buffer.from('of an app that was never made'))

  t.same(await collect(0), { apps: 0, bytes: 0 }, 'they may be named yet')
  t.same(await collect(2 * HOUR), { apps: 0, bytes: 2 })
  t.same(await digestsOf(bytes, id), named)
  t.same(await digestsOf(bytes, reborn), [])
  t.same(await collect(2 * HOUR), { apps: 0, bytes: 0 })
})

void t.test('what a knowledge-base file names stays as long as the file', async (t) => {
  const { platform, account, bytes, id, collect } = await appWorld(t)
  const page = await bytes.put(id, Buffer.from('opening hours'))
  await bytes.put(id, Buffer.from('of an upload that was refused'))
  const file = { ...QUEUED, app_id: id, account_id: account.id, ...page }
  await platform.store.write((tx) => tx.files.insert(file))
  t.same(await collect(2 * HOUR), { apps: 0, bytes: 1 })
  t.ok((await digestsOf(bytes, id)).includes(page.sha256))

  await platform.store.write((tx) => tx.files.remove(id, file.id))
  t.same(await collect(2 * HOUR), { apps: 0, bytes: 1 })
  t.notOk((await digestsOf(bytes, id)).includes(page.sha256))
})

void t.test(
  'an archived app is gone after thirty days, bytes and all, and no sooner',
  async (t) => {
    const { request, bytes, id, collect } = await appWorld(t)
    const { length } = await digestsOf(bytes, id)
    await request('DELETE', `/v1/apps/${id}`)
    t.same(await collect(29 * DAY), { apps: 0, bytes: 0 })
    t.match(await request('GET', `/v1/apps/${id}/tree`), { status: 200 })

    t.same(await collect(30 * DAY + HOUR), { apps: 1, bytes: length })
    const gone = { status: 404, body: { error: { code: 'app_not_found' } } }
    t.match(await request('GET', `/v1/apps/${id}`), gone)
    t.match(await request('POST', `/v1/apps/${id}/restore`), gone)
    t.same(await digestsOf(bytes, id), [])
  },
)

void t.test('an app that is cloned while its bytes are collected is whole', async (t) => {
  const { request, bytes, id, collect } = await appWorld(t)
  const [cloned] = await Promise.all([
    request<AnyBody>('POST', `/v1/apps/${id}/clone`),
    collect(0),
    collect(0),
  ])
  const clone = String(cloned.body['id'])
  await collect(2 * HOUR)
  t.same(await digestsOf(bytes, clone), await digestsOf(bytes, id))
})

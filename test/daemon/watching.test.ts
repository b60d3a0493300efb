import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { filesFamily } from '../../daemon/families/files/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { ask, at, createApp, startWorker } from '../support/edits.ts'
import { formOf } from '../support/knowledge.ts'
import { mountIn } from '../support/mounting.ts'
import { DOCUMENTED } from '../support/openapi.ts'
import type { Answer, AnyBody, World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const PROMPT = JSON.stringify([{ op: 'write', path: 'a.html', content: 'a' }])

function watchWorld(t: Parameters<typeof createWorld>[0]): Promise<World> {
  const families = [appsFamily, editsFamily, filesFamily, webhooksFamily]
  return createWorld(t, { families, editor: createMemoryEditor() })
}

/** Where an answer says that it is to be watched, and when. */
function watched({ status, headers }: Answer<AnyBody>) {
  return [status, headers.get('location'), headers.get('retry-after')]
}

await t.test('what is still to be carried out says where and when to look again', async (t) => {
  const world = await watchWorld(t)
  const { request } = world
  const idempotent = { headers: { 'idempotency-key': 'one' }, body: { prompt: PROMPT } }
  const made = await request('POST', '/v1/apps', idempotent)
  const place = `/v1/apps/${String(made.body['id'])}`
  t.same(watched(made), [202, place, '2'])
  t.match(await request('GET', place), { body: { status: 'creating' } })
  const again = await request('POST', '/v1/apps', idempotent)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.same(watched(again), watched(made))

  const { id } = await createApp(world)
  const asked = await ask(world, id, PROMPT)
  t.same(watched(asked), [202, at(asked.body), '2'])
  t.match(await request('GET', at(asked.body)), { body: { id: asked.body.id } })

  const files = `/v1/apps/${id}/files`
  const one = await request<{ data: AnyBody[] }>('POST', files, { form: formOf([['a.md', 'one']]) })
  t.same(watched(one), [202, `${files}/${String(one.body.data[0]?.['id'])}`, '2'])
  const form = formOf([
    ['b.md', 'two'],
    ['c.md', 'three'],
  ])
  t.same(watched(await request('POST', files, { form })), [202, files, '2'])

  const { store, clock } = world.platform
  const now = clock.now()
  const claim = { claim: 'c', now, lease_until: now + 1000, deadline_at: now + 1000 }
  const failed = await store.write(async (tx) => {
    const job = await tx.jobs.claim('file', claim)
    const file = job && (await tx.files.begin(job))
    const error = { code: 'damaged', message: 'It is damaged.' }
    await tx.files.finish(file?.id ?? '', 'c', now, { status: 'failed', error })
    return file?.id
  })
  const retried = await request('POST', `${files}/${failed}/retry`)
  t.same(watched(retried), [202, `${files}/${failed}`, '2'])
})

await t.test('what is done at once, or refused, says nothing of it', async (t) => {
  const world = await watchWorld(t)
  startWorker(t, world)
  const body = { template_id: 'blank' }
  const made = await world.request('POST', '/v1/apps', { body })
  t.same(watched(made), [201, null, null])
  const id = String(made.body['id'])
  t.same(watched(await ask(world, id, PROMPT, '?wait=25')), [201, null, null])
  t.same(watched(await ask(world, 'another', PROMPT)), [404, null, null])
})

await t.test('below a prefix the place is below it too', async (t) => {
  mountIn('http')
  const world = await watchWorld(t)
  const made = await world.request('POST', '/v1/apps', { body: { prompt: PROMPT } })
  const { pathname } = new URL(world.baseUrl)
  t.not(pathname, '/')
  t.equal(made.headers.get('location'), `${pathname}/v1/apps/${String(made.body['id'])}`)
})

await t.test('it is documented', (t) => {
  const watchable = DOCUMENTED.filter(({ responses }) => {
    const { headers = {} } = (responses['202'] ?? {}) as { readonly headers?: object }
    return 'Location' in headers && 'Retry-After' in headers
  })
  t.same(watchable.map(({ operationId }) => operationId).sort(), [
    'apps.create',
    'deploy.publish',
    'deploy.rollback',
    'edits.cancel',
    'edits.create',
    'files.retry',
    'files.upload',
    'webhooks.retry_delivery',
  ])
  t.end()
})

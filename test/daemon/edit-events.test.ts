import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { claimEdit, sampleEdit, sampleEditEnd } from '../platform/edit-samples.ts'
import { createApp } from '../support/edits.ts'
import { openStream } from '../support/stream.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

/** An edit that the test itself carries out, and a key that reads it. */
async function begun(t: Parameters<typeof createWorld>[0]) {
  const world = await createWorld(t, { families: [appsFamily, editsFamily] })
  const { store, clock } = world.platform
  const app = await createApp(world)
  const edit = sampleEdit('edit_1', { app_id: app.id, account_id: world.account.id })
  await store.write((tx) => tx.edits.insert(edit))
  const { key } = await world.mintKey({ scopes: ['edits:read'] })
  const path = `/v1/apps/${app.id}/edits/${edit.id}/events`
  return {
    world,
    key,
    path,
    open: (after?: string) => openStream(world.baseUrl + path, key, after),
    claim: () => claimEdit(store, 'c1', clock.now()),
    say: (message: string) =>
      store.write((tx) => tx.jobs.log(edit.id, [{ at: clock.now(), stage: 'asking', message }])),
    finish: () => store.write((tx) => tx.edits.finish(edit.id, 'c1', sampleEditEnd())),
  }
}

const eventsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^event: (.*)$/gm)].map(([, event]) => event ?? '')

void t.test('an edit is followed to its end, and again from where a client was', async (t) => {
  const { open, claim, say, finish } = await begun(t)
  const stream = await open()
  t.match(
    await stream.until('queue_position'),
    /event: status\ndata: .*"status":"queued".*"queue_position":1/,
  )
  await claim()
  await say('Asking the language model.')
  await stream.until('Asking')
  await say('Applying.')
  await finish()
  const text = await stream.until()
  t.match(text, /id: 1\nevent: line\ndata: \{"number":1,.*"stage":"asking","message":"Asking/)
  t.match(text, /id: 2\nevent: line\n/)
  t.match(text, /event: end\ndata: .*"status":"completed","stage":null.*\n\n$/)
  t.equal(eventsIn(text).filter((event) => event === 'end').length, 1)

  const again = await (await open('1')).until()
  t.same(eventsIn(again), ['line', 'end'])
  t.match(again, 'id: 2')
})

void t.test('who may not see an edit may not follow it', async (t) => {
  const { world, path } = await begun(t)
  const stranger: Pick<World, 'account'>['account'] = await world.addAccount()
  t.match(await world.request('GET', path, { as: world.userOf(stranger) }), {
    status: 404,
    body: { error: { code: 'app_not_found' } },
  })
  const { key } = await world.mintKey({ scopes: ['edits:read'], apps: ['other'] })
  t.match(await world.request('GET', path, { as: key }), { status: 404 })
  const { key: blind } = await world.mintKey({ scopes: ['apps:read'] })
  t.match(await world.request('GET', path, { as: blind }), { status: 403 })
})

void t.test('a key that is revoked reads nothing more of an edit', async (t) => {
  const { world, path, say, claim } = await begun(t)
  await claim()
  const { id, key } = await world.mintKey({ scopes: ['edits:read'] })
  const stream = await openStream(world.baseUrl + path, key)
  await say('before')
  await stream.until('before')
  await world.request('DELETE', `/v1/keys/${id}`)
  await say('after')
  const text = await stream.until()
  t.match(text, '"code":"key_revoked"')
  t.notMatch(text, 'after')
})

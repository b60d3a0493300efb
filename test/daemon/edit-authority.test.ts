import t from 'tap'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { filesFamily } from '../../daemon/families/files/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { HOUR } from '../../lib/time.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { createClock } from '../support/clock.ts'
import type { Edit } from '../support/edits.ts'
import {
  at,
  createApp,
  createHeldEditor,
  eventsOf,
  startWorker,
  untilEnded,
} from '../support/edits.ts'
import type { Asker, World, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const PROMPT = JSON.stringify([{ op: 'write', path: 'a.html', content: 'a' }])

function authorityWorld(
  t: Parameters<typeof createWorld>[0],
  options: WorldOptions = {},
): Promise<World> {
  const families = [appsFamily, editsFamily, filesFamily, webhooksFamily, createAccountsFamily()]
  return createWorld(t, { families, editor: createMemoryEditor(), ...options })
}

async function wish(world: World, app: string, as: Asker, prompt = PROMPT): Promise<Edit> {
  const { status, body } = await world.request<Edit>('POST', `/v1/apps/${app}/edits`, {
    as,
    body: { prompt },
  })
  if (status !== 202) throw new Error(`not asked for: ${JSON.stringify(body)}`)
  return body
}

const ENDED = {
  status: 'failed',
  error: { code: 'authority_ended', class: 'policy', retryable: false },
  result_revision: null,
  base_revision: null,
}

/** What ends what a key may do, and what does not. */
const CHANGES: readonly {
  readonly what: string
  readonly goesOn?: true
  change(
    world: World,
    key: { readonly id: string },
    parent: { readonly id: string },
  ): Promise<unknown>
}[] = [
  {
    what: 'its key is revoked',
    change: ({ request }, { id }) => request('DELETE', `/v1/keys/${id}`),
  },
  {
    what: 'a key above its key is revoked',
    change: ({ request }, _, { id }) => request('DELETE', `/v1/keys/${id}`),
  },
  {
    what: 'its key is narrowed',
    change: ({ request }, { id }) =>
      request('PATCH', `/v1/keys/${id}`, { body: { scopes: ['edits:read'] } }),
  },
  {
    what: 'a key above its key is narrowed',
    change: ({ request }, _, { id }) =>
      request('PATCH', `/v1/keys/${id}`, { body: { scopes: ['keys:write', 'edits:read'] } }),
  },
  {
    what: 'its account is suspended',
    change: ({ request, account, operatorFor }) =>
      request('POST', `/v1/accounts/${account.id}/suspend`, { as: operatorFor(null) }),
  },
  {
    what: 'its key is narrowed to what it still needs',
    goesOn: true,
    change: ({ request }, { id }) =>
      request('PATCH', `/v1/keys/${id}`, { body: { scopes: ['edits:write'] } }),
  },
  {
    what: 'its key is rotated, and the value that asked is ended',
    goesOn: true,
    change: ({ request }, { id }) =>
      request('POST', `/v1/keys/${id}/rotate`, { body: { grace_seconds: 0 } }),
  },
]

for (const { what, goesOn, change } of CHANGES) {
  const outcome = goesOn === true ? 'is carried out' : 'is not begun'
  await t.test(`an edit that waited ${outcome} when ${what}`, async (t) => {
    const world = await authorityWorld(t)
    const { id } = await createApp(world)
    const parent = await world.mintKey({ scopes: ['edits:*', 'keys:write'] })
    const key = await world.mintKey({ scopes: ['edits:*'] }, parent.key)
    const edit = await wish(world, id, key.key)
    const changed = (await change(world, key, parent)) as { readonly status: number }
    t.ok(changed.status < 300)
    startWorker(t, world)
    // The operator may always look.
    const path = `${at(edit)}/status?wait=25`
    await world.request('GET', path, { as: world.operator })
    const { body } = await world.request('GET', at(edit), { as: world.operator })
    t.match(body, goesOn === true ? { status: 'completed', result_revision: 2 } : ENDED)
    const type = goesOn === true ? 'edit.completed' : 'edit.failed'
    const told = (await eventsOf(world)).filter((one) => one.type.startsWith('edit.'))
    t.match(told, [{ type, data: { edit_id: edit.id } }])
    t.equal(told.length, 1)
  })
}

await t.test('who waits for an edit is told nothing once its key is revoked', async (t) => {
  const world = await authorityWorld(t)
  const { id } = await createApp(world)
  const { id: keyId, key } = await world.mintKey({ scopes: ['edits:*'] })
  const edit = await wish(world, id, key)
  const reading = world.request('GET', `${at(edit)}/status?wait=25`, { as: key })
  const asking = world.request<Edit>('POST', `/v1/apps/${id}/edits?wait=25`, {
    as: key,
    body: { prompt: PROMPT },
  })
  const list = `/v1/apps/${id}/edits`
  for (let count = 0; count < 2;) {
    count = (await world.request<{ data: Edit[] }>('GET', list)).body.data.length
  }
  const from = Date.now()
  t.equal((await world.request('DELETE', `/v1/keys/${keyId}`)).status, 200)
  t.match(await reading, { status: 401, body: { error: { code: 'key_revoked' } } })
  t.match(await asking, { status: 202, body: { status: 'queued' } }, 'as it was committed')
  t.ok(Date.now() - from < 20_000, 'before the time is over')
})

await t.test('an edit is not begun by a key that expired while it waited', async (t) => {
  const clock = createClock(Date.parse('2026-01-31T12:00:00Z'))
  const world = await authorityWorld(t, { clock })
  const { id } = await createApp(world)
  const { id: keyId, key } = await world.mintKey({ scopes: ['edits:*'] })
  const body = { expires_at: '2026-01-31T12:30:00Z' }
  t.match(await world.request('PATCH', `/v1/keys/${keyId}`, { body }), { status: 200 })
  const edit = await wish(world, id, key)
  await clock.advance(HOUR)
  startWorker(t, world)
  await ended(world, edit)
  t.match((await world.request('GET', at(edit))).body, ENDED)
})

/** Without a clock that goes on by itself nobody may wait for the answer. */
async function ended(world: World, edit: Edit): Promise<void> {
  for (let body = edit; ['queued', 'running'].includes(body.status);) {
    ;({ body } = await world.request<Edit>('GET', at(edit)))
  }
}

await t.test('what a key began goes on, and its other edits end in their turn', async (t) => {
  const held = createHeldEditor()
  const world = await authorityWorld(t, { editor: held.editor })
  const { id } = await createApp(world)
  const { id: keyId, key } = await world.mintKey({ scopes: ['edits:*'] })
  startWorker(t, world)
  const first = await wish(world, id, key, 'first')
  await held.until('first')
  const second = await wish(world, id, key, 'second')
  const third = await wish(world, id, world.user, 'third')
  await world.request('DELETE', `/v1/keys/${keyId}`)
  await held.release('first')
  t.match(await untilEnded(world, first), { status: 'completed' })
  t.match(await untilEnded(world, second), ENDED)
  await held.release('third')
  t.match(await untilEnded(world, third), { status: 'completed' })
  t.same(held.begun(), ['first', 'third'])
})

await t.test('an app is made as long as its key may make apps', async (t) => {
  const world = await authorityWorld(t)
  const makers = await Promise.all(
    [1, 2].map(() => world.mintKey({ scopes: ['apps:write', 'apps:read'] })),
  )
  const made = await Promise.all(
    makers.map(({ key }) =>
      world.request<Edit>('POST', '/v1/apps', { as: key, body: { prompt: PROMPT } }),
    ),
  )
  const [, other] = makers
  const body = { scopes: ['apps:read'] }
  await world.request('PATCH', `/v1/keys/${other?.id}`, { body })
  startWorker(t, world)
  const edits = made.map(({ body: app }) => ({
    ...app,
    app_id: app.id,
    id: String(app['edit_id']),
  }))
  const [good, bad] = await Promise.all(edits.map((edit) => untilEnded(world, edit)))
  t.match(good, { status: 'completed', initial: true })
  t.match(bad, ENDED)
  t.match(await world.request('GET', `/v1/apps/${made[1]?.body.id}`), {
    body: { status: 'failed' },
  })
})

await t.test(
  'what a session or the operator asked for goes on, unless the account is suspended',
  async (t) => {
    const world = await authorityWorld(t)
    const { request, account, operatorFor, operator, user } = world
    const [one, two] = [await createApp(world), await createApp(world)]
    const byUser = await wish(world, one.id, user)
    const byOperator = await wish(world, two.id, operator)
    const suspend = `/v1/accounts/${account.id}/suspend`
    t.match(await request('POST', suspend, { as: operatorFor(null) }), { status: 200 })
    startWorker(t, world)
    for (const edit of [byUser, byOperator]) {
      await request('GET', `${at(edit)}/status?wait=25`, { as: operator })
    }
    t.match((await request('GET', at(byUser), { as: operator })).body, ENDED)
    t.match((await request('GET', at(byOperator), { as: operator })).body, { status: 'completed' })
  },
)

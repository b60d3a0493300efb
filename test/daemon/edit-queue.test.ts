import t from 'tap'
import { HOUR, SECOND } from '../../lib/time.ts'
import type { EditScript } from '../../plugins/edits/memory.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { beginEdit } from '../platform/edit-samples.ts'
import { until } from '../support/daemon.ts'
import {
  ask,
  at,
  createApp,
  createHeldEditor,
  editWorld,
  endsOf,
  eventsOf,
  operationsOf,
  readFile,
  startWorker,
  untilEnded,
} from '../support/edits.ts'

void t.test('edits of one app run one after another, those of others beside them', async (t) => {
  const held = createHeldEditor()
  const world = await editWorld(t, held.editor)
  const one = await createApp(world)
  const other = await createApp(world)
  startWorker(t, world)
  const first = (await ask(world, one.id, 'first')).body
  await held.until('first')
  const second = (await ask(world, one.id, 'second')).body
  const third = (await ask(world, one.id, 'third')).body
  t.match([second, third], [{ queue_position: 1 }, { queue_position: 2 }])
  const beside = (await ask(world, other.id, 'beside')).body
  await held.until('beside')
  t.same(held.begun(), ['first', 'beside'])
  t.match((await world.request('GET', `/v1/apps/${one.id}/edits`)).body['data'], [
    { status: 'queued', queue_position: 2 },
    { status: 'queued', queue_position: 1 },
    { status: 'running', queue_position: null, base_revision: 1 },
  ])
  await held.release('first')
  await held.release('second')
  await held.release('third')
  await held.release('beside')
  for (const [edit, result_revision] of [
    [first, 2],
    [second, 3],
    [third, 4],
    [beside, 2],
  ] as const) {
    t.match(await untilEnded(world, edit), { status: 'completed', result_revision })
  }
  t.equal((await endsOf(world)).length, 4)
})

void t.test('ten wait for an app, and no more', async (t) => {
  const world = await editWorld(t, createHeldEditor().editor)
  const { id } = await createApp(world)
  const answers = await Promise.all(
    Array.from({ length: 13 }, (_, index) => ask(world, id, `p${index}`)),
  )
  t.equal(answers.filter(({ status }) => status === 202).length, 10)
  const full = answers.filter(({ status }) => status === 409)
  t.equal(full.length, 3)
  for (const { body } of full) {
    t.match(body, { error: { code: 'edit_queue_full', details: { limit: 10 } } })
  }
  const places = answers.flatMap(({ body }) => body['queue_position'] ?? [])
  t.same(
    places.toSorted((a, b) => Number(a) - Number(b)),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  )
})

void t.test(
  'an edit is canceled while it waits, and while it runs, and not once it ended',
  async (t) => {
    const held = createHeldEditor()
    const world = await editWorld(t, held.editor)
    const { id } = await createApp(world)
    startWorker(t, world)
    const running = (await ask(world, id, 'running')).body
    await held.until('running')
    const waiting = (await ask(world, id, 'waiting')).body
    const next = (await ask(world, id, 'next')).body

    t.match(await world.request('POST', `${at(waiting)}/cancel`), {
      status: 200,
      body: { status: 'canceled', error: { code: 'canceled' }, queue_position: null },
    })
    t.match(await world.request('POST', `${at(running)}/cancel`), {
      status: 202,
      body: { status: 'running' },
    })
    t.match(await untilEnded(world, running), {
      status: 'canceled',
      error: { code: 'canceled', class: 'request', retryable: false },
      result_revision: null,
    })
    t.same(held.aborted, ['running'])
    await held.release('next')
    t.match(await untilEnded(world, next), { status: 'completed', result_revision: 2 })
    for (const edit of [running, waiting, next]) {
      const answer = await world.request('POST', `${at(edit)}/cancel`)
      t.match(answer, { status: 409, body: { error: { code: 'edit_finished' } } })
    }
    t.same(await endsOf(world), [
      `${waiting.id} canceled`,
      `${running.id} canceled`,
      `${next.id} edit.completed`,
    ])
  },
)

void t.test('what a worker that died had begun is taken over, and ends once', async (t) => {
  const held = createHeldEditor()
  const world = await editWorld(t, held.editor)
  const { store, clock } = world.platform
  const { id } = await createApp(world)
  const edit = (await ask(world, id, 'taken over')).body
  const now = clock.now()
  const dead = { claim: 'dead', now, lease_until: now + 200, deadline_at: now + 60_000 }
  t.match(await beginEdit(store, dead), { id: edit.id })

  startWorker(t, world)
  await held.release('taken over')
  t.match(await untilEnded(world, edit), { status: 'completed', result_revision: 2 })
  t.ok(clock.now() >= dead.lease_until, 'not before its lease had ended')
  const late = await store.write(async (tx) => [
    await tx.jobs.heartbeat(edit.id, 'dead', {
      lease_until: now,
      stage: null,
      done: 0,
      total: null,
    }),
    await tx.edits.finish(edit.id, 'dead', {
      status: 'failed',
      finished_at: now,
      result_revision: null,
      summary: null,
      changed: [],
      usage: null,
      error: null,
    }),
  ])
  t.same(late, ['lost', false])
  t.same(await endsOf(world), [`${edit.id} edit.completed`])
})

void t.test('an edit that is taken from its worker goes on with the other alone', async (t) => {
  const held = createHeldEditor()
  const world = await editWorld(t, held.editor)
  const { store, clock } = world.platform
  const { id } = await createApp(world)
  startWorker(t, world, { beat: 50 })
  const edit = (await ask(world, id, 'contested')).body
  await held.until('contested')
  // By a clock that is an hour ahead the lease has ended, as it has while a process hangs.
  const now = clock.now() + HOUR
  const thief = { claim: 'thief', now, lease_until: now + HOUR, deadline_at: now + HOUR }
  t.match(await beginEdit(store, thief), { id: edit.id })
  await until('the first is aborted', () => held.aborted.length > 0)
  t.match(await world.request('GET', at(edit)), { body: { status: 'running' } })
  t.same(await endsOf(world), [])
})

void t.test('what is canceled while its worker is dead is not begun again', async (t) => {
  const held = createHeldEditor()
  const world = await editWorld(t, held.editor)
  const { store, clock } = world.platform
  const { id } = await createApp(world)
  const edit = (await ask(world, id, 'orphaned')).body
  const now = clock.now()
  const dead = { claim: 'dead', now, lease_until: now + 100, deadline_at: now + 60_000 }
  await beginEdit(store, dead)
  t.match(await world.request('POST', `${at(edit)}/cancel`), { status: 202 })
  t.match(await world.request('POST', `${at(edit)}/cancel`), { status: 202 }, 'asked again')
  startWorker(t, world)
  t.match(await untilEnded(world, edit), { status: 'canceled', error: { code: 'canceled' } })
  t.same(held.begun(), [])
  t.same(await endsOf(world), [`${edit.id} canceled`])
})

void t.test('an edit whose bytes are kept slowly stays with its worker', async (t) => {
  let begun = 0
  const script: EditScript = async (task) => {
    begun += 1
    return operationsOf(task)
  }
  const world = await editWorld(t, createMemoryEditor({ script }))
  const {
    plugins: { appBytes },
    clock,
  } = world.platform
  if (appBytes === undefined) throw new Error('the world keeps no bytes')
  const { id } = await createApp(world)
  const lease = SECOND
  let began = 0
  const put = appBytes.put.bind(appBytes)
  appBytes.put = async (...given) => {
    began ||= clock.now()
    await until('three leases are over', () => clock.now() > began + 3 * lease)
    return put(...given)
  }
  for (let workers = 0; workers < 2; workers++) startWorker(t, world, { lease, beat: lease / 10 })
  const edit = (await ask(world, id, 'slow')).body
  t.match(await untilEnded(world, edit), { status: 'completed', result_revision: 2 })
  t.equal(begun, 1)
  t.same(await endsOf(world), [`${edit.id} edit.completed`])
})

void t.test('what kills every worker is given up', async (t) => {
  const held = createHeldEditor()
  const world = await editWorld(t, held.editor)
  const { store, clock } = world.platform
  const { id } = await createApp(world)
  const edit = (await ask(world, id, 'deadly')).body
  for (let attempt = 1; attempt <= 3; attempt++) {
    const now = clock.now()
    const dead = { claim: `dead ${attempt}`, now, lease_until: now, deadline_at: now + 60_000 }
    t.match(await beginEdit(store, dead), { id: edit.id })
  }
  startWorker(t, world)
  t.match(await untilEnded(world, edit), { status: 'failed', error: { code: 'worker_lost' } })
  t.same(held.begun(), [])
  t.same(await endsOf(world), [`${edit.id} worker_lost`])
})

void t.test('archiving an app ends what waits in the same unit, and stops what runs', async (t) => {
  const held = createHeldEditor()
  const world = await editWorld(t, held.editor)
  const { id } = await createApp(world)
  startWorker(t, world)
  const running = (await ask(world, id, 'running')).body
  await held.until('running')
  const waiting = (await ask(world, id, 'waiting')).body
  t.match(await world.request('DELETE', `/v1/apps/${id}`), { status: 200 })
  t.match(await world.request('GET', at(waiting)), { body: { status: 'canceled' } })
  t.match(await untilEnded(world, running), { status: 'canceled', result_revision: null })
  t.match(await world.request('GET', `/v1/apps/${id}`), { body: { current_revision: 1 } })
  t.same(held.aborted, ['running'])
  t.same(await endsOf(world), [`${waiting.id} canceled`, `${running.id} canceled`])
  const types = (await eventsOf(world)).map(({ type }) => type)
  t.ok(types.indexOf('edit.failed') < types.indexOf('app.deleted'))
})

void t.test('a worker that is stopped hands back what it had begun', async (t) => {
  const held = createHeldEditor()
  const world = await editWorld(t, held.editor)
  const { id } = await createApp(world)
  const worker = startWorker(t, world)
  const edit = (await ask(world, id, 'handed back')).body
  await held.until('handed back')
  await worker.stop()
  t.same(held.aborted, ['handed back'])
  t.match(await world.request('GET', at(edit)), { body: { status: 'running' } })
  t.same(await endsOf(world), [])

  startWorker(t, world)
  await until('it is begun again', () => held.begun().length === 2)
  await held.release('handed back')
  t.match(await untilEnded(world, edit), { status: 'completed', result_revision: 2 })
  t.same(await endsOf(world), [`${edit.id} edit.completed`])
})

void t.test('two workers carry out every edit once', async (t) => {
  const world = await editWorld(t, createMemoryEditor({ script: operationsOf }))
  const apps = await Promise.all(Array.from({ length: 3 }, () => createApp(world)))
  startWorker(t, world)
  startWorker(t, world)
  const edits = await Promise.all(
    apps.flatMap(({ id }) => ['a', 'b', 'c', 'd'].map(async (word) => ask(world, id, word))),
  )
  for (const { body } of edits) t.match(await untilEnded(world, body), { status: 'completed' })
  const ends = await endsOf(world)
  t.equal(ends.length, 12)
  t.equal(new Set(ends).size, 12)
  for (const { id } of apps) {
    t.match(await world.request('GET', `/v1/apps/${id}`), { body: { current_revision: 5 } })
    for (const word of ['a', 'b', 'c', 'd']) t.equal(await readFile(world, id, `${word}.txt`), word)
  }
})

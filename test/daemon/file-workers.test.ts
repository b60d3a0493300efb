import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { HOUR } from '../../lib/time.ts'
import { createMemoryFileProcessor } from '../../plugins/files/memory.ts'
import { beginFile } from '../platform/file-samples.ts'
import { hang, openWorld, scripted, until } from '../support/processing.ts'
import { signal } from '../support/signal.ts'

await t.test('a beat that finds the file gone ends its processing', async (t) => {
  const { processor, seen } = scripted((_, signal) => hang(signal))
  const { start, send, request, app, events } = await openWorld(t, processor)
  start({ beat: 5 })
  const id = await send('a well')
  await until(() => seen.running === 1)
  await request('DELETE', `/v1/apps/${app}/files/${id}`)
  await until(() => seen.running === 0)
  t.same(await events(), [])
})

await t.test('the file of a worker that died is taken over, and ends once', async (t) => {
  const { start, send, ended, events, platform } = await openWorld(t, createMemoryFileProcessor())
  const id = await send('a well')
  const now = platform.clock.now()
  const dead = { claim: 'dead', now, lease_until: now + 50, deadline_at: now + HOUR }
  await beginFile(platform.store, dead)
  start({}, 5)
  t.match(await ended(id), { status: 'processed', attempts: 2 })
  const late = {
    status: 'processed',
    content_type: 'text/plain',
    chunks: 9,
    characters: 9,
  } as const
  t.notOk(await platform.store.write((tx) => tx.files.finish(id, 'dead', now, late)))
  t.match(await events(), [{ type: 'file.processed', data: { chunks: 1 } }])
})

await t.test('a worker that slept past its lease ends nothing any more', async (t) => {
  const { promise: held, resolve: go } = signal()
  const { processor, seen } = scripted((call) => (call === 1 ? held : undefined))
  const { start, send, ended, events } = await openWorld(t, processor)
  start({ lease: 20, beat: HOUR }, 5)
  const id = await send('a well')
  t.match(await ended(id), { status: 'processed', attempts: 2 })
  go()
  await until(() => seen.running === 0)
  t.equal(seen.calls, 2)
  t.equal((await events()).length, 1)
})

await t.test('a file that kills its workers is given up, and told of once', async (t) => {
  const { start, send, ended, events, platform } = await openWorld(t, createMemoryFileProcessor())
  const id = await send('a well')
  for (const claim of ['first', 'second', 'third']) {
    const now = platform.clock.now()
    const dead = { claim, now, lease_until: now, deadline_at: now + HOUR }
    await beginFile(platform.store, dead)
  }
  start()
  t.match(await ended(id), { status: 'failed', error: { code: 'worker_lost' } })
  t.match(await events(), [{ type: 'file.failed', data: { error: { code: 'worker_lost' } } }])
})

await t.test('past its deadline a file fails, whatever is being done with it', async (t) => {
  const { processor } = scripted((_, signal) => hang(signal))
  const { start, send, ended, events, platform } = await openWorld(t, processor)
  const worker = start({ deadline: 30 })
  t.match(await ended(await send('one')), {
    status: 'failed',
    attempts: 1,
    error: { code: 'timed_out' },
  })
  await worker.stop()
  const id = await send('two', 'b.md')
  const now = platform.clock.now()
  const dead = { claim: 'dead', now, lease_until: now, deadline_at: now }
  await beginFile(platform.store, dead)
  start()
  t.match(await ended(id), { status: 'failed', error: { code: 'timed_out' } })
  t.same(
    (await events()).map(({ type }) => type),
    ['file.failed', 'file.failed'],
  )
})

await t.test('a processor that ignores its signal holds up no worker that stops', async (t) => {
  const { processor, seen } = scripted(() => new Promise(() => undefined))
  const { start, send, get } = await openWorld(t, processor)
  const worker = start()
  const id = await send('a well')
  await until(() => seen.running === 1)
  await worker.stop()
  t.match(await get(id), { status: 'processing', attempts: 0 })
})

await t.test('a worker that stops gives back what it holds, for the next to begin', async (t) => {
  const { processor, seen } = scripted((call, signal) => (call === 1 ? hang(signal) : undefined))
  const { start, send, ended, get, events } = await openWorld(t, processor)
  const first = start()
  const id = await send('a well')
  await until(() => seen.running === 1)
  await first.stop()
  t.match(await get(id), { status: 'processing', stage: null })
  start()
  t.match(await ended(id), { status: 'processed', attempts: 1 })
  t.equal((await events()).length, 1)
})

await t.test('two files are read at once, and no more', async (t) => {
  const { processor, seen } = scripted(() => delay(10))
  const { start, upload, ended } = await openWorld(t, processor)
  start()
  const files = Array.from({ length: 6 }, (_, at) => [`${at}.md`, `well ${at}`] as const)
  const { data } = (await upload(files)).body
  for (const { id } of data) t.match(await ended(id), { status: 'processed' })
  t.equal(seen.most, 2)
})

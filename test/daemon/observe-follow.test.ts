import t from 'tap'
import { SECOND } from '../../lib/time.ts'
import { addLines, idAt, sampleLine } from '../platform/observation-samples.ts'
import type { AccessLine } from '../../plugins/platform/contract/observations.ts'
import { until } from '../support/daemon.ts'
import { createApp } from '../support/edits.ts'
import { observedWorld } from '../support/observed.ts'
import { openStream } from '../support/stream.ts'

async function begun(t: Parameters<typeof observedWorld>[0]) {
  const world = await observedWorld(t)
  const { store } = world.platform
  const { id } = await createApp(world)
  const minted = await world.mintKey({ scopes: ['observe:read'] })
  const path = `/v1/apps/${id}/logs/follow`
  return {
    world,
    minted,
    open: (after?: string, query = '') =>
      openStream(world.baseUrl + path + query, minted.key, after),
    /** Adds lines, the mark of each in its path. */
    add: (marks: readonly number[], changes: Partial<AccessLine> = {}) =>
      addLines(
        store,
        ...marks.map((mark) => ({
          ...sampleLine(mark, changes),
          id: idAt(sampleLine(mark).at),
          app_id: id,
          path: `/${mark}`,
        })),
      ),
  }
}

const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/"path":"\/(\d+)"/g)].map(([, mark = '']) => mark)

const lastId = (text: string): string => [...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? ''

const upTo = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

void t.test(
  'a stream shows the last lines, then each as it is recorded, late ones too',
  async (t) => {
    const { open, add } = await begun(t)
    await add(upTo(100, 130))
    const stream = await open()
    t.same(pathsIn(await stream.until('"/130"')), upTo(111, 130).map(String))
    await add([131])
    await stream.until('"/131"')
    // Another process served it before, and recorded it now.
    await add([50])
    const text = await stream.until('"/50"')
    t.same(pathsIn(text).slice(-2), ['131', '50'])
    t.match(text, /id: \d+\nevent: line\ndata: \{"id":/)
    stream.leave()
  },
)

void t.test('a client that comes back misses none, however many there are', async (t) => {
  const { open, add } = await begun(t)
  await add([1, 2, 3])
  const stream = await open()
  const place = lastId(await stream.until('"/2"').then((text) => text.split('"/2"')[0] ?? ''))
  stream.leave()
  await add(upTo(4, 520))
  const again = await open(place)
  t.same(pathsIn(await again.until('"/520"')), upTo(3, 520).map(String))
  again.leave()
})

void t.test('a stream of a log without lines shows every one that comes', async (t) => {
  const { world, open, add } = await begun(t)
  const { observations } = world.platform.store
  let looks = 0
  const tail: typeof observations.tail = async (asked) => {
    const lines = await observations.tail(asked)
    looks += 1
    return lines
  }
  Object.assign(world.platform.store, { observations: { ...observations, tail } })
  const stream = await open()
  await until('it is looked at', () => looks > 0)
  await add(upTo(1, 50))
  t.same(pathsIn(await stream.until('"/50"')), upTo(1, 50).map(String))
  stream.leave()
})

void t.test('a stream of one environment shows its last lines, and no other', async (t) => {
  const { open, add } = await begun(t)
  await add(upTo(1, 22), { kind: 'preview' })
  await add(upTo(23, 60), { kind: 'published' })
  const stream = await open(undefined, '?env=preview')
  await stream.until('"/22"')
  await add([61], { kind: 'published' })
  await add([62], { kind: 'preview' })
  t.same(pathsIn(await stream.until('"/62"')), [...upTo(3, 22), 62].map(String))
  stream.leave()
})

void t.test('a key that is revoked reads nothing more', async (t) => {
  const { world, minted, open, add } = await begun(t)
  const stream = await open()
  await add([1])
  await stream.until('"/1"')
  await world.request('DELETE', `/v1/keys/${minted.id}`)
  await add([2])
  const text = await stream.until()
  t.match(text, '"code":"key_revoked"')
  t.same(pathsIn(text), ['1'])
})

void t.test('whoever has left is looked for no more', async (t) => {
  const { world, open } = await begun(t)
  const { clock } = world.platform
  const { after } = clock
  let waits = (): void => undefined
  let ends = (): void => undefined
  const waiting = new Promise<void>((resolve) => {
    waits = resolve
  })
  const ended = new Promise<void>((resolve) => {
    ends = resolve
  })
  Object.assign(clock, {
    after: (delay: number, run: () => void) => {
      const cancel = after(delay, run)
      if (delay !== SECOND) return cancel
      waits()
      return () => {
        cancel()
        ends()
      }
    },
  })
  const stream = await open()
  await waiting
  stream.leave()
  await t.resolves(ended, 'its next look is called off')
})

import t from 'tap'
import { digestOf } from '../../daemon/trees/tree.ts'
import type { FileRecord } from '../../plugins/platform/contract/files.ts'
import type { Knowledge } from '../support/knowledge.ts'
import { createKnowledge } from '../support/knowledge.ts'

const MIB = 1_048_576

/** Fills an app with files of some size, all but one of which nobody uploaded. */
async function fill({ upload, platform, app }: Knowledge, count: number, size: number) {
  const { data } = (await upload([['a.md', 'one']])).body
  const known = await platform.store.files.get(app, data[0]?.id ?? '')
  if (known === undefined) throw new Error('no file')
  const record = (at: number): FileRecord => ({
    ...known,
    id: platform.newId(),
    sha256: at.toString(16).padStart(64, '0'),
    size,
  })
  await platform.store.write(async (tx) => {
    for (let at = 1; at < count; at++) await tx.files.insert(record(at))
  })
  return { first: data[0], known }
}

await t.test('an app takes no more than it may hold', async (t) => {
  const world = await createKnowledge(t)
  const { upload, platform, app } = world
  const { known } = await fill(world, 999, 1)
  const last = await upload([
    ['b.md', 'two'],
    ['c.md', 'three'],
    ['d.md', 'one'],
  ])
  t.match(last, {
    status: 202,
    body: {
      data: [{ name: 'b.md' }, { name: 'a.md' }],
      errors: [{ name: 'c.md', code: 'file_limit_reached' }],
    },
  })
  t.match(await upload([['e.md', 'four']]), {
    status: 409,
    body: { error: { code: 'file_limit_reached' } },
  })
  await platform.store.write((tx) => tx.files.remove(app, known.id))
  t.match(await upload([['e.md', 'four']]), { status: 202 })
})

await t.test('an app of large files takes no more than a GiB', async (t) => {
  const world = await createKnowledge(t)
  const { upload, platform, app } = world
  const { first } = await fill(world, 2, 1024 * MIB - 6)
  t.match(await upload([['b.md', 'four']]), { status: 409 })
  t.equal(await platform.plugins.appBytes?.get(app, digestOf('four')), undefined, 'nor is it kept')
  t.match(await upload([['a.md', 'one']]), { status: 202, body: { data: [{ id: first?.id }] } })
  t.match(await upload([['b.md', 'two']]), { status: 202 })
})

await t.test(
  'of many large uploads at once no more are taken than there is room for',
  async (t) => {
    const world = await createKnowledge(t)
    await fill(world, 2, 1024 * MIB - 3 - 25)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => world.upload([[`${at}.md`, `${at} of ten.`]])),
    )
    const taken = answers.filter(({ status }) => status === 202)
    t.equal(taken.length, 2, 'nine bytes each')
    t.match(await world.platform.store.files.sum(world.app), { files: 4, bytes: 1024 * MIB - 7 })
  },
)

await t.test('of many uploads at once no more are taken than there is room for', async (t) => {
  const world = await createKnowledge(t)
  await fill(world, 997, 1)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => world.upload([[`${at}.md`, `number ${at}`]])),
  )
  t.same(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [202, 202, 202, 409, 409, 409, 409, 409],
  )
  t.match(await world.platform.store.files.sum(world.app), { files: 1000 })
})

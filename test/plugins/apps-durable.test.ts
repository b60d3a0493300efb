import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openDiskBytes } from '../../plugins/apps/disk.ts'

const APP = 'app00001'
const clock = { now: Date.now }
const root = await mkdtemp(join(tmpdir(), 'keyhook-apps-'))
t.teardown(() => rm(root, { recursive: true, force: true }))

/** Counts what is made durable from now on, whatever handle it is asked of. */
async function countSyncs(): Promise<() => number> {
  const handle = await open(root)
  const prototype = Object.getPrototypeOf(handle) as typeof handle
  await handle.close()
  const { sync } = prototype
  let count = 0
  prototype.sync = function () {
    count += 1
    return sync.call(this)
  }
  t.teardown(() => {
    prototype.sync = sync
  })
  return () => {
    const before = count
    count = 0
    return before
  }
}

const counted = await countSyncs()

// Three folders hold a file: that of its first digits, its app's, and the one of all apps.
await t.test(
  'a file and its name are synced each time, the names of its folders once',
  async (t) => {
    const bytes = await openDiskBytes({ folder: join(root, 'a'), clock })
    counted()
    await bytes.put(APP, Buffer.from('once'))
    t.equal(counted(), 4)
    await bytes.put(APP, Buffer.from('once'))
    t.equal(counted(), 2)
  },
)

await t.test('folders that were made anew are synced anew', async (t) => {
  const bytes = await openDiskBytes({ folder: join(root, 'b'), clock })
  await bytes.put(APP, Buffer.from('once'))
  await bytes.drop(APP)
  counted()
  await bytes.put(APP, Buffer.from('once'))
  t.equal(counted(), 4)
})

await t.test('what another process made is not taken for durable', async (t) => {
  const folder = join(root, 'c')
  const [mine, theirs] = [
    await openDiskBytes({ folder, clock }),
    await openDiskBytes({ folder, clock }),
  ]
  await mine.put(APP, Buffer.from('once'))
  await mine.drop(APP)
  await theirs.put(APP, Buffer.from('once'))
  counted()
  await mine.put(APP, Buffer.from('once'))
  t.equal(counted(), 4)
})

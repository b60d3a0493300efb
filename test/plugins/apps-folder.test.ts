import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { openDiskBytes } from '../../plugins/apps/disk.ts'
import type { Told } from '../support/app-bytes-child.ts'
import { CHILD_APP } from '../support/app-bytes-child.ts'

const APP = 'app00001'
const DAMAGED = { code: 'bytes_damaged' }
const clock = { now: Date.now }
const root = await mkdtemp(join(tmpdir(), 'keyhook-apps-'))
t.teardown(() => rm(root, { recursive: true, force: true }))

let made = 0
const newPath = (): string => join(root, String(made++))

const textOf = (text: string): Uint8Array => new TextEncoder().encode(text)

async function collect<T>(items: AsyncIterable<T> | undefined): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items ?? []) all.push(item)
  return all
}

/** Every file and link below a folder, by its path. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  return found.filter((one) => !one.isDirectory()).map((one) => join(one.parentPath, one.name))
}

interface KeptFile {
  readonly folder: string
  readonly bytes: AppBytes
  readonly sha256: string
  readonly path: string
}

async function keepOne(size = 100): Promise<KeptFile> {
  const folder = newPath()
  const bytes = await openDiskBytes({ folder, clock })
  const { sha256 } = await bytes.put(APP, Buffer.alloc(size, 'abc'))
  const [path = ''] = await filesIn(folder)
  return { folder, bytes, sha256, path }
}

await t.test('files are private, and lie under their digest', async (t) => {
  const { folder, sha256, path } = await keepOne()
  t.ok(path.startsWith(join(folder, APP, sha256.slice(0, 2), `${sha256.slice(2)}.`)))
  const modeOf = async (one: string): Promise<number> => (await lstat(one)).mode & 0o777
  t.equal(await modeOf(path), 0o600)
  const folders = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const one of folders.filter((found) => found.isDirectory())) {
    t.equal(await modeOf(join(one.parentPath, one.name)), 0o700, one.name)
  }
  t.equal(await modeOf(folder), 0o700)
})

await t.test('what was changed on the disk is no content', async (t) => {
  const changes: Readonly<Record<string, (path: string) => Promise<void>>> = {
    'a flipped byte': async (path) => {
      const content = await readFile(path)
      content[17] = (content[17] ?? 0) ^ 1
      await writeFile(path, content)
    },
    'a cut file': (path) => truncate(path, 50),
    'an emptied file': (path) => truncate(path, 0),
    'a longer file': (path) => truncate(path, 101),
  }
  for (const [name, change] of Object.entries(changes)) {
    await t.test(name, async (t) => {
      const { bytes, sha256, path } = await keepOne()
      await change(path)
      await t.rejects(bytes.get(APP, sha256), DAMAGED)
      await t.rejects(collect(await bytes.open(APP, sha256)), DAMAGED)
      await bytes.put(APP, Buffer.alloc(100, 'abc'))
      t.same(await bytes.get(APP, sha256), Buffer.alloc(100, 'abc'), 'put again it is whole')
    })
  }
})

/** Reading what lies where ours should is refused by each method. */
async function assertUnread(t: Test, { bytes, sha256 }: KeptFile): Promise<void> {
  await t.rejects(bytes.get(APP, sha256), DAMAGED)
  await t.rejects(bytes.open(APP, sha256), DAMAGED)
  await t.rejects(collect(bytes.list(APP)), DAMAGED)
}

await t.test('no link is followed', async (t) => {
  await t.test('in place of the folder of an app, or a folder in it', async (t) => {
    for (const levels of [1, 2]) {
      const kept = await keepOne()
      const elsewhere = newPath()
      let replaced = kept.path
      for (let level = 0; level < levels; level += 1) replaced = dirname(replaced)
      await rename(replaced, elsewhere)
      await symlink(elsewhere, replaced)
      const before = await filesIn(elsewhere)
      await assertUnread(t, kept)
      const { bytes, sha256 } = kept
      await t.rejects(bytes.put(APP, Buffer.alloc(100, 'abc')), DAMAGED)
      await t.rejects(bytes.remove(APP, [sha256], Number.MAX_SAFE_INTEGER), DAMAGED)
      await bytes.drop(APP)
      t.same(await filesIn(elsewhere), before, 'nothing is written or removed there')
      t.same(await filesIn(kept.folder), [], 'and nothing is left here')
    }
  })

  await t.test('in place of a file', async (t) => {
    const kept = await keepOne()
    const elsewhere = newPath()
    await rename(kept.path, elsewhere)
    await symlink(elsewhere, kept.path)
    await assertUnread(t, kept)
    const { bytes, sha256 } = kept
    await bytes.put(APP, Buffer.alloc(100, 'abc'))
    t.same(await bytes.get(APP, sha256), Buffer.alloc(100, 'abc'))
    t.equal(await bytes.remove(APP, [sha256], Number.MAX_SAFE_INTEGER), 1)
    t.same(await readFile(elsewhere), Buffer.alloc(100, 'abc'), 'where it led is untouched')
  })

  await t.test('nor is a folder a file', async (t) => {
    const kept = await keepOne()
    await rm(kept.path)
    await mkdir(kept.path)
    await assertUnread(t, kept)
  })

  await t.test('in place of a folder of its own, at opening', async (t) => {
    const folder = newPath()
    const elsewhere = newPath()
    await mkdir(folder)
    await mkdir(elsewhere)
    await writeFile(join(elsewhere, 'mine'), '')
    await symlink(elsewhere, join(folder, '.dropped'))
    await t.rejects(openDiskBytes({ folder, clock }), DAMAGED)
    t.same(await readdir(elsewhere), ['mine'])
  })
})

await t.test('names that would lead out of it make no path', async (t) => {
  const folder = join(newPath(), 'inner')
  const bytes = await openDiskBytes({ folder, clock })
  const { sha256 } = await bytes.put(APP, textOf('x'))
  const before = await readdir(dirname(folder), { recursive: true })
  for (const appId of ['../outside', '..', '../../../../tmp', `${APP}/../../out`, '.dropped']) {
    await t.rejects(bytes.put(appId, textOf('x')), TypeError)
    await t.rejects(bytes.drop(appId), TypeError)
    await t.rejects(bytes.get(appId, sha256), TypeError)
  }
  await t.rejects(bytes.get(APP, `../../../${APP}/${sha256}`), TypeError)
  t.same(await readdir(dirname(folder), { recursive: true }), before)
})

await t.test('what was left unfinished is cleared away after an hour', async (t) => {
  const { folder, bytes, sha256 } = await keepOne()
  const unfinished = join(folder, '.unfinished')
  const dropped = join(folder, '.dropped')
  const plant = async (): Promise<void> => {
    await writeFile(join(unfinished, 'old'), 'half')
    await writeFile(join(unfinished, 'young'), 'half')
    const anHourAgo = Date.now() / 1000 - 3601
    await utimes(join(unfinished, 'old'), anHourAgo, anHourAgo)
    await mkdir(join(dropped, 'app', 'ab'), { recursive: true })
    await writeFile(join(dropped, 'app', 'ab', 'c'), 'whole')
  }
  const assertCleared = async (): Promise<void> => {
    t.same(await readdir(unfinished), ['young'])
    t.same(await readdir(dropped), [])
  }
  await plant()
  t.same(
    (await collect(bytes.list(APP))).map((one) => one.sha256),
    [sha256],
  )
  await assertCleared()
  await plant()
  await openDiskBytes({ folder, clock })
  await assertCleared()
})

await t.test('what lies in it beside is left alone', async (t) => {
  const { folder, bytes, path } = await keepOne()
  await writeFile(join(folder, 'README'), 'hands off')
  await writeFile(join(dirname(path), 'notes.txt'), 'hands off')
  t.equal((await collect(bytes.list(APP))).length, 1)
  t.same(await collect(bytes.apps()), [APP])
  const all = (await collect(bytes.list(APP))).map(({ sha256 }) => sha256)
  t.equal(await bytes.remove(APP, all, Number.MAX_SAFE_INTEGER), 1)
  t.same(await readFile(join(dirname(path), 'notes.txt'), 'utf8'), 'hands off')
})

const CHILD = new URL('../support/app-bytes-child.js', import.meta.url)

/** Lets a child work until it has told so many things, kills it, and answers what it told. */
async function killAfter(count: number, folder: string): Promise<readonly Told[]> {
  const told: Told[] = []
  const child = fork(CHILD, [folder, String(count)], { execArgv: [] })
  child.on('message', (one: Told) => {
    told.push(one)
    if (told.length === count) child.kill('SIGKILL')
  })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (signal !== 'SIGKILL') throw new Error(`the child ended by itself: ${String(signal)}`)
  return told
}

/** Each as many processes that share the folder. */
const WAVES = [
  [1, 3, 7, 15, 37],
  [2, 4, 8, 22, 60],
]

await t.test('killed at any moment, all that was answered is whole', async (t) => {
  const folder = newPath()
  const kept = new Set<string>()
  for (const wave of WAVES) {
    const told = await Promise.all(wave.map((count) => killAfter(count, folder)))
    for (const one of told.flat()) {
      if (one.does === 'kept') kept.add(one.sha256)
      if (one.does === 'remove') kept.delete(one.sha256)
    }
    const bytes = await openDiskBytes({ folder, clock })
    const listed = (await collect(bytes.list(CHILD_APP))).map(({ sha256 }) => sha256)
    t.same(
      [...kept].filter((sha256) => !listed.includes(sha256)),
      [],
      'nothing that was answered is missing',
    )
    for (const sha256 of listed) await bytes.get(CHILD_APP, sha256)
  }
  t.ok(kept.size > 10, `${kept.size} puts were answered before a kill`)
})

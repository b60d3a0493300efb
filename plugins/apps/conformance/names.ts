import assert from 'node:assert/strict'
import type { AppBytes } from '../contract.ts'
import { APP, type AppBytesCase, bytesOf, collect, listOf, sha256Of } from './samples.ts'

const FILE = bytesOf('file')
const DIGEST = sha256Of(FILE)

const NO_APPS: readonly string[] = [
  '',
  '.',
  '..',
  '../../etc',
  'app00001/..',
  'app00001/',
  '/app00001',
  'app\u000000001',
  'app00001\n',
  'APP00001',
  'app_0001',
  'äpp00001',
  'app0001',
  'a'.repeat(33),
  '%2e%2e%2fapp',
]

const NO_DIGESTS: readonly string[] = [
  '',
  '..',
  '../'.repeat(21) + 'x',
  DIGEST.toUpperCase(),
  DIGEST.slice(1),
  `${DIGEST}0`,
  `${DIGEST}\n`,
  `${DIGEST.slice(2)}/.`,
  `g${DIGEST.slice(1)}`,
]

async function assertNoApp(bytes: AppBytes, appId: string): Promise<void> {
  const acts: readonly (() => Promise<unknown>)[] = [
    () => bytes.put(appId, FILE),
    () => bytes.get(appId, DIGEST),
    () => bytes.open(appId, DIGEST),
    async () => collect(bytes.list(appId)),
    () => bytes.remove(appId, [DIGEST], 0),
    () => bytes.remove(appId, [], 0),
    () => bytes.drop(appId),
  ]
  for (const act of acts) await assert.rejects(act, TypeError, JSON.stringify(appId))
}

export const nameCases: readonly AppBytesCase[] = [
  {
    name: 'names: what is no id of an app is refused by every method',
    async run({ open }) {
      const bytes = await open()
      for (const appId of NO_APPS) await assertNoApp(bytes, appId)
      for (const appId of [undefined, null, 12_345_678, ['app00001']]) {
        await assertNoApp(bytes, appId as unknown as string)
      }
      assert.deepEqual(await collect(bytes.apps()), [])
    },
  },
  {
    name: 'names: what is no digest is refused, and nothing else named with it goes',
    async run({ open }) {
      const bytes = await open()
      await bytes.put(APP, FILE)
      for (const sha256 of NO_DIGESTS) {
        await assert.rejects(bytes.get(APP, sha256), TypeError)
        await assert.rejects(bytes.open(APP, sha256), TypeError)
        const named = [DIGEST, sha256]
        await assert.rejects(bytes.remove(APP, named, Number.MAX_SAFE_INTEGER), TypeError)
      }
      assert.equal((await listOf(bytes)).length, 1)
    },
  },
  {
    name: 'names: the shortest and the longest ids are apps of their own',
    async run({ open }) {
      const bytes = await open()
      const ids = ['a'.repeat(8), 'a'.repeat(9), 'a'.repeat(32), '00000000', '0123456z']
      for (const id of ids) await bytes.put(id, FILE)
      assert.deepEqual([...(await collect(bytes.apps()))].sort(), ids.sort())
      for (const id of ids) assert.equal((await listOf(bytes, id)).length, 1)
    },
  },
]

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Clock } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import type { OtherProcess } from '../../other-process.ts'
import type { AppBytes, Listed } from '../contract.ts'

/** What an implementation gives the suite: one place, with nothing in it, for every case. */
export interface AppBytesHarness extends ConformanceHarness {
  /**
   * Opens the place; what was put through one opening is there through every other. One that nobody
   * else can open answers the same each time.
   */
  open(): Promise<AppBytes>
  /** How another process opens the place; required for `manyProcesses`. */
  otherProcess?(): OtherProcess
  /** What `kept_at` is read from. */
  readonly clock: Pick<Clock, 'now'>
  /** Resolves once the clock has gone on by so much. */
  pass(ms: Millis): Promise<void>
}

export type AppBytesCase = ConformanceCase<AppBytesHarness>

export const APP = 'app00001'
export const OTHER = 'app00002'

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Bytes of which no two blocks are alike. */
export function manyBytes(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let word = 1
  for (let index = 0; index < size; index += 1) {
    word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0
    bytes[index] = word >>> 24
  }
  return bytes
}

/** A stream that notes what became of it. */
export interface Watched extends AsyncIterable<Uint8Array> {
  readonly asked: number
  readonly ended: boolean
}

/** The bytes in chunks of the given sizes, round and round, all in one buffer that is used again. */
export function inChunks(bytes: Uint8Array, sizes: readonly number[]): AsyncIterable<Uint8Array> {
  return (async function* () {
    const buffer = new Uint8Array(Math.max(...sizes))
    for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
      const part = bytes.subarray(at, at + (sizes[turn % sizes.length] ?? 1))
      buffer.set(part)
      yield buffer.subarray(0, part.length)
      at += part.length
    }
  })()
}

/** Gives the chunks one after another, then does `last`. */
export function watched(
  chunks: readonly Uint8Array[],
  last: () => Promise<IteratorResult<Uint8Array>>,
): Watched {
  const state = { asked: 0, ended: false }
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const value = chunks[state.asked]
      state.asked += 1
      return value === undefined ? last() : { done: false, value }
    },
    async return() {
      state.ended = true
      return { done: true, value: undefined }
    },
  }
  return Object.assign(state, { [Symbol.asyncIterator]: () => iterator })
}

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Copies, since a chunk may be used again. */
export async function readAll(chunks: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array> {
  assert.ok(chunks !== undefined, 'it is kept')
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(new Uint8Array(chunk))
  return new Uint8Array(Buffer.concat(all))
}

/** Bytes compared by value, whatever class they are of. */
export function assertBytes(actual: Uint8Array | undefined, expected: Uint8Array): void {
  assert.ok(actual !== undefined, 'it is kept')
  assert.equal(actual.length, expected.length)
  assert.ok(Buffer.compare(actual, expected) === 0, 'the same bytes')
}

export async function listOf(bytes: AppBytes, appId: string = APP): Promise<readonly Listed[]> {
  return collect(bytes.list(appId))
}

/** Nothing is left of the app: not in the list, and not among the apps. */
export async function assertNothing(bytes: AppBytes, appId: string = APP): Promise<void> {
  assert.deepEqual(await listOf(bytes, appId), [])
  assert.ok(!(await collect(bytes.apps())).includes(appId), 'the app is not named')
}

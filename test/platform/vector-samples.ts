import assert from 'node:assert/strict'
import type { FileRecord, FoundChunk, NearSearch } from '../../plugins/platform/contract/files.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { PROCESSED, claimFile, insertFiles, sampleChunk } from './file-samples.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'

export const MODEL = 'model-1'
export const vector = (...numbers: readonly number[]): Float32Array => Float32Array.from(numbers)

export const EAST = vector(1, 0)
export const NORTH_EAST = vector(2, 2)
export const NORTH = vector(0, 0.001)
export const WEST = vector(-3, 0)

/** Adds passages named after the file and their places, each with its vector. */
export async function addEmbedded(
  store: PlatformStore,
  id: string,
  vectors: readonly Float32Array[],
  model = MODEL,
): Promise<void> {
  const chunks = vectors.map((_, ordinal) => sampleChunk(ordinal, `${id} ${ordinal}`))
  await store.write(async (tx) => {
    await tx.files.addChunks(id, id, chunks)
    await tx.files.addVectors(id, id, { model, first: 0, vectors })
  })
}

/** Processed files with these vectors, one after another; nothing else may wait. */
export async function embedFiles(
  store: PlatformStore,
  ...files: readonly (readonly [FileRecord, readonly Float32Array[], model?: string])[]
): Promise<void> {
  for (const [file, vectors, model] of files) {
    await insertFiles(store, file)
    await claimFile(store, file.id, BORN)
    await addEmbedded(store, file.id, vectors, model)
    await store.write((tx) => tx.files.finish(file.id, file.id, BORN, PROCESSED))
  }
}

const NEAR: NearSearch = {
  app_id: 'app_1',
  model: MODEL,
  vector: EAST,
  limit: 50,
  files: null,
  most: 1000,
  known: [],
}

export function near(
  store: PlatformStore,
  search: Partial<NearSearch> = {},
): Promise<readonly FoundChunk[]> {
  return store.files.nearest({ ...NEAR, ...search })
}

export async function nearTexts(
  store: PlatformStore,
  search: Partial<NearSearch> = {},
): Promise<string[]> {
  return (await near(store, search)).map(({ text }) => text)
}

export function assertAlmost(actual: number | undefined, expected: number): void {
  assert.ok(Math.abs((actual ?? NaN) - expected) < 0.01, `${actual} is not about ${expected}`)
}

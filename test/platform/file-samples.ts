import type { FileChunk, FileEnd, FileRecord } from '../../plugins/platform/contract/files.ts'
import type { JobClaim } from '../../plugins/platform/contract/jobs.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { sampleClaim } from './job-samples.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'

/** A file that waits; ids sort in the order in which files were made. */
export function sampleFile(id: string, changes: Partial<FileRecord> = {}): FileRecord {
  return {
    id,
    app_id: 'app_1',
    account_id: ACCOUNT,
    name: 'handbook.pdf',
    content_type: 'application/pdf',
    size: 4_294_967_296,
    sha256: 'ab'.repeat(32),
    status: 'queued',
    stage: null,
    done: 0,
    total: null,
    chunks: null,
    characters: null,
    error: null,
    attempts: 0,
    created_by: { type: 'key', id: 'key_1' },
    created_at: BORN,
    processed_at: null,
    ...changes,
  }
}

export function sampleChunk(
  ordinal: number,
  text: string,
  changes: Partial<FileChunk> = {},
): FileChunk {
  return { ordinal, text, heading: null, page: null, start: 0, end: text.length, ...changes }
}

export const PROCESSED = {
  status: 'processed',
  content_type: 'text/markdown',
  chunks: 2,
  characters: 4_294_967_296,
} as const satisfies FileEnd

export const FAILED = {
  status: 'failed',
  error: { code: 'damaged', message: 'The file is damaged: "%PDF" is missing.' },
} as const satisfies FileEnd

export async function insertFiles(
  store: PlatformStore,
  ...files: readonly FileRecord[]
): Promise<void> {
  await store.write(async (tx) => {
    for (const file of files) await tx.files.insert(file)
  })
}

export function claimFile(
  store: PlatformStore,
  claim: string,
  now: number,
): Promise<FileRecord | undefined> {
  return beginFile(store, sampleClaim(claim, now))
}

/** Claims the next file as whoever processes it does. */
export function beginFile(store: PlatformStore, asked: JobClaim): Promise<FileRecord | undefined> {
  return store.write(async (tx) => {
    const job = await tx.jobs.claim('file', asked)
    return job && tx.files.begin(job)
  })
}

/** Deletes what earlier attempts have left of a claimed file; undefined when it is not this claim's any more. */
export function clearFile(
  store: PlatformStore,
  id: string,
  claim: string,
  limit = 100,
): Promise<number | undefined> {
  return store.write((tx) => tx.files.clear(id, claim, limit))
}

/** Deletes what deleted files have left, and answers how many rows each portion was. */
export async function purgeRemoved(store: PlatformStore, limit = 100): Promise<readonly number[]> {
  const portions: number[] = []
  do portions.push(await store.purge('removed_files', BORN, limit))
  while (portions.at(-1) === limit)
  return portions
}

/** Files that were processed to these texts, one after another; nothing else may wait. */
export async function processFiles(
  store: PlatformStore,
  ...files: readonly { readonly file: FileRecord; readonly chunks: readonly FileChunk[] }[]
): Promise<void> {
  for (const { file, chunks } of files) {
    await insertFiles(store, file)
    await claimFile(store, file.id, BORN)
    await store.write((tx) => tx.files.addChunks(file.id, file.id, chunks))
    const end: FileEnd = { ...PROCESSED, chunks: chunks.length }
    await store.write((tx) => tx.files.finish(file.id, file.id, BORN, end))
  }
}

/** What a search of an app finds, as the texts in their order. */
export async function findTexts(
  store: PlatformStore,
  query: string,
  changes: {
    readonly app_id?: string
    readonly limit?: number
    readonly files?: readonly string[]
  } = {},
): Promise<string[]> {
  const search = { app_id: 'app_1', query, limit: 50, files: null, ...changes }
  return (await store.files.search(search)).map(({ text }) => text)
}

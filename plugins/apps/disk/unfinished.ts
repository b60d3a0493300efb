import { randomUUID } from 'node:crypto'
import { lstat, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR } from '../../../lib/time.ts'
import { removeFile } from './copies.ts'
import { codeOf, onDisk, unlessMissing } from './faults.ts'
import { DROPPED, UNFINISHED, namesIn } from './folders.ts'

/** A file that nobody else looks at until it is renamed. */
export interface Unfinished {
  readonly path: string
  remove(): Promise<void>
}

/** Writes all chunks, durably; when it throws nothing is left. */
export async function write(root: string, chunks: AsyncIterable<Uint8Array>): Promise<Unfinished> {
  const path = join(root, UNFINISHED, randomUUID())
  const handle = await onDisk(() => open(path, 'wx', 0o600))
  const remove = async (): Promise<void> => {
    await removeFile(path)
  }
  try {
    try {
      for await (const chunk of chunks) await onDisk(() => handle.writeFile(chunk))
      await onDisk(() => handle.sync())
    } finally {
      await handle.close()
    }
  } catch (cause) {
    await remove().catch(() => undefined)
    throw cause
  }
  return { path, remove }
}

/** Clears away what was left by those who were killed. */
export async function sweep(root: string): Promise<void> {
  for (const name of await namesIn(root, DROPPED)) await clear(join(root, DROPPED, name))
  const names = await namesIn(root, UNFINISHED)
  if (names.length === 0) return
  const now = await timeOf(root)
  for (const name of names) {
    const path = join(root, UNFINISHED, name)
    const found = await unlessMissing(() => lstat(path))
    // What is being written is touched by every chunk.
    if (found !== undefined && found.mtimeMs < now - HOUR) await clear(path)
  }
}

/**
 * Removes a file or a folder with all in it; of links the link. Others may be about the same, and a put
 * that had found the folder before it was taken away may still add to it.
 */
export async function clear(path: string): Promise<void> {
  await onDisk(() =>
    rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 }).catch(
      (cause: unknown) => {
        if (codeOf(cause) !== 'ENOENT') throw cause
      },
    ),
  )
}

/**
 * What the file system itself takes for now, its clock may be another machine's; before all time when
 * nothing can be written to tell.
 */
async function timeOf(root: string): Promise<number> {
  const probe = await write(root, nothing()).catch(() => undefined)
  if (probe === undefined) return -Infinity
  const found = await unlessMissing(() => lstat(probe.path))
  await probe.remove()
  return found?.mtimeMs ?? -Infinity
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield* []
}

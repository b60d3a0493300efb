import { randomUUID } from 'node:crypto'
import { type BigIntStats, constants } from 'node:fs'
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rmdir,
} from 'node:fs/promises'
import { join } from 'node:path'
import { bytesError } from '../errors.ts'

/** Paths consist of these two and of checked ids and digests. */
export const UNFINISHED = '.unfinished'
export const DROPPED = '.dropped'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants
const PRIVATE = 0o700

/** Creates the missing parts of the folder, and returns its real path. */
export async function openFolder(folder: string): Promise<string> {
  return onDisk(async () => {
    await mkdir(folder, { recursive: true, mode: PRIVATE })
    const root = await realpath(folder)
    for (const name of [UNFINISHED, DROPPED]) await ensureFolder(join(root, name))
    return root
  })
}

/** Creates a folder unless it exists; whether it did. */
async function ensureFolder(path: string): Promise<boolean> {
  if ((await unlessMissing(() => requireFolder(path))) !== undefined) return false
  try {
    await mkdir(path, { mode: PRIVATE })
    return true
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause
  }
  await requireFolder(path)
  return false
}

/** @throws KeyhookError `bytes_damaged` for a link, or anything else that is no folder */
async function requireFolder(path: string): Promise<BigIntStats> {
  const found = await lstat(path, { bigint: true })
  if (!found.isDirectory()) throw replaced(new Error(`${path} is not a folder`))
  return found
}

/** The folders of a digest, outermost first. */
export function foldersOf(root: string, appId: string, sha256: string): readonly [string, string] {
  return [join(root, appId), join(root, appId, sha256.slice(0, 2))]
}

/** Whether the innermost was created. */
export async function ensureFolders(folders: readonly string[]): Promise<boolean> {
  let isCreated = false
  for (const folder of folders) isCreated = await ensureFolder(folder)
  return isCreated
}

/** The names in a folder below `root`; none when it or a parent is missing. */
export async function namesIn(root: string, ...way: readonly string[]): Promise<readonly string[]> {
  const names = await unlessMissing(async () => {
    let path = root
    for (const step of way) {
      path = join(path, step)
      await requireFolder(path)
    }
    return readdir(path)
  })
  return names ?? []
}

export interface OpenedFile {
  readonly handle: FileHandle
  readonly size: number
}

/** Opens a regular file for reading, without waiting for a writer of a pipe. */
export async function openFile(path: string): Promise<OpenedFile> {
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw replaced(new Error(`${path} is not a file`))
    return { handle, size: found.size }
  } catch (cause) {
    await handle.close()
    throw cause
  }
}

/**
 * The identity of the folder at a path, which differs from that of a later folder. Empty where the file system
 * does not record creation times.
 */
export async function identify(path: string): Promise<string> {
  const { ino, birthtimeNs } = await requireFolder(path)
  return birthtimeNs === 0n ? '' : `${ino} ${birthtimeNs}`
}

/** Makes changes in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes an empty folder; writers create it again. */
export async function removeIfEmpty(path: string): Promise<void> {
  await unlessMissing(() =>
    rmdir(path).catch((cause: unknown) => {
      if (codeOf(cause) !== 'ENOTEMPTY' && codeOf(cause) !== 'EEXIST') throw cause
    }),
  )
}

/** Renames; false when the source or the target's folder is missing. */
export async function tryRename(from: string, to: string): Promise<boolean> {
  const done = await unlessMissing(async () => {
    await rename(from, to)
    return true
  })
  return done ?? false
}

/** Moves an app away atomically and durably; returns its new path, to be removed. */
export async function moveAway(root: string, appId: string): Promise<string | undefined> {
  const folder = join(root, DROPPED)
  await onDisk(() => ensureFolder(folder))
  const dropped = join(folder, `${appId}.${randomUUID()}`)
  if (!(await tryRename(join(root, appId), dropped))) return undefined
  await onDisk(() => syncFolder(root))
  return dropped
}

/** Codes for a link, and for a file in place of a folder. */
const REPLACED = new Set(['ELOOP', 'ENOTDIR', 'EISDIR'])

/**
 * Runs calls of the file system only: errors of a caller's stream have system codes too.
 *
 * @throws KeyhookError `unavailable` for a fault of the machine, `bytes_damaged` for what was replaced
 */
export async function onDisk<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    const code = codeOf(cause)
    if (code === undefined) throw cause
    throw REPLACED.has(code)
      ? replaced(cause)
      : bytesError('unavailable', { cause, internal: String(cause) })
  }
}

/** The same, but `undefined` for a missing file. */
export async function unlessMissing<T>(act: () => Promise<T>): Promise<T | undefined> {
  return onDisk(async () => {
    try {
      return await act()
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return undefined
      throw cause
    }
  })
}

/** The error for a file that something else replaced. */
export function replaced(cause: unknown): Error {
  return bytesError('bytes_damaged', { cause, internal: String(cause) })
}

/** The system's code, such as ENOENT. */
export function codeOf(cause: unknown): string | undefined {
  const isOfSystem = cause instanceof Error && 'syscall' in cause && 'code' in cause
  return isOfSystem && typeof cause.code === 'string' ? cause.code : undefined
}

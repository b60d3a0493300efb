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
import { kernelError } from '../../../lib/errors.ts'
import { bytesError } from '../intake.ts'

/** Paths are made of these two, ids and digests that were judged, and nothing else. */
export const UNFINISHED = '.unfinished'
export const DROPPED = '.dropped'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants
const PRIVATE = 0o700

/** Makes what of the folder is missing, and answers where it really is. */
export async function openFolder(folder: string): Promise<string> {
  return onDisk(async () => {
    await mkdir(folder, { recursive: true, mode: PRIVATE })
    const root = await realpath(folder)
    for (const name of [UNFINISHED, DROPPED]) await enter(join(root, name))
    return root
  })
}

/** Makes a folder unless it is there. */
async function enter(path: string): Promise<void> {
  if ((await unlessMissing(() => requireFolder(path))) !== undefined) return
  await mkdir(path, { mode: PRIVATE }).catch((cause: unknown) => {
    if (codeOf(cause) !== 'EEXIST') throw cause
  })
  await requireFolder(path)
}

/** @throws KeyhookError `bytes_damaged` for a link, or anything else that is no folder */
async function requireFolder(path: string): Promise<BigIntStats> {
  const found = await lstat(path, { bigint: true })
  if (!found.isDirectory()) throw replaced(new Error(`${path} is not a folder`))
  return found
}

/** The folders in which the files of a digest lie, outermost first. */
export function foldersOf(root: string, appId: string, sha256: string): readonly [string, string] {
  return [join(root, appId), join(root, appId, sha256.slice(0, 2))]
}

export async function enterAll(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await enter(folder)
}

/** The names in a folder below `root`, none when one on the way to it is not there. */
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

/** Opens a file for reading; what is no file of ours is refused, and nothing waits for a writer. */
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
 * Which folder lies at a path: another one that took its place is told from it. Empty where the file
 * system does not keep when one was made.
 */
export async function identify(path: string): Promise<string> {
  const { ino, birthtimeNs } = await requireFolder(path)
  return birthtimeNs === 0n ? '' : `${ino} ${birthtimeNs}`
}

/** Makes durable what was made, renamed or removed in a folder. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes a folder that is empty; whoever needs it makes it anew. */
export async function leave(path: string): Promise<void> {
  await unlessMissing(() =>
    rmdir(path).catch((cause: unknown) => {
      if (codeOf(cause) !== 'ENOTEMPTY' && codeOf(cause) !== 'EEXIST') throw cause
    }),
  )
}

/** Renames; false when there is nothing, or no folder to take it. */
export async function tryRename(from: string, to: string): Promise<boolean> {
  const done = await unlessMissing(async () => {
    await rename(from, to)
    return true
  })
  return done ?? false
}

/** Takes an app out of the way at once, durably; answers where it is now, to be removed. */
export async function takeAway(root: string, appId: string): Promise<string | undefined> {
  const folder = join(root, DROPPED)
  await onDisk(() => enter(folder))
  const dropped = join(folder, `${appId}.${randomUUID()}`)
  if (!(await tryRename(join(root, appId), dropped))) return undefined
  await onDisk(() => syncFolder(root))
  return dropped
}

/** What opening says of a link, and of a file where a folder has to be. */
const REPLACED = new Set(['ELOOP', 'ENOTDIR', 'EISDIR'])

/**
 * Runs what asks the file system alone: the errors of a caller's stream bear codes of the system too.
 *
 * @throws KeyhookError `unavailable` for a fault of the machine, `bytes_damaged` for what was replaced
 */
export async function onDisk<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    const code = codeOf(cause)
    if (code === undefined) throw cause
    const refuse = REPLACED.has(code) ? () => replaced(cause) : () => unavailable(cause)
    throw refuse()
  }
}

/** The same, but what is not there is `undefined`. */
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

/** What lies where ours should was put there by somebody else. */
export function replaced(cause: unknown): Error {
  return bytesError('bytes_damaged', { cause, internal: String(cause) })
}

function unavailable(cause: unknown): Error {
  return kernelError('unavailable', { cause, internal: String(cause) })
}

/** The system's code, such as ENOENT. */
export function codeOf(cause: unknown): string | undefined {
  const isOfSystem = cause instanceof Error && 'syscall' in cause && 'code' in cause
  return isOfSystem && typeof cause.code === 'string' ? cause.code : undefined
}

import { lstat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Instant } from '../../../lib/time.ts'
import type { Listed } from '../contract.ts'
import { namesIn, removeIfEmpty, replaced, unlessMissing } from './folders.ts'

/**
 * A file's name is the rest of its digest and the time of its put. Renewing adds a name and then removes the
 * older ones: a remove of old names cannot remove a new one, in any process, and the file is never missing in
 * between.
 */
const NAME = /^([0-9a-f]{62})\.(\d{1,16})$/
const PREFIX = /^[0-9a-f]{2}$/

export function nameOf(sha256: string, kept_at: Instant): string {
  return `${sha256.slice(2)}.${kept_at}`
}

/** When each of the digests in a folder was put, oldest first. */
type Copies = ReadonlyMap<string, readonly Instant[]>

async function copiesIn(root: string, appId: string, prefix: string): Promise<Copies> {
  const copies = new Map<string, Instant[]>()
  for (const name of await namesIn(root, appId, prefix)) {
    const [, rest, instant] = NAME.exec(name) ?? []
    if (rest === undefined) continue
    const instants = copies.get(prefix + rest) ?? []
    instants.push(Number(instant))
    copies.set(prefix + rest, instants)
  }
  for (const instants of copies.values()) instants.sort((a, b) => a - b)
  return copies
}

/** When a digest was last put. */
async function findCopy(root: string, appId: string, sha256: string): Promise<Instant | undefined> {
  const look = async (): Promise<Instant | undefined> =>
    (await copiesIn(root, appId, sha256.slice(0, 2))).get(sha256)?.at(-1)
  // The names of a large folder are read in pieces, and a renewal may slip through between two.
  return (await look()) ?? (await look())
}

/** Lookups of a file that is renewed again and again. */
const MAX_LOOKS = 100

/** Calls `act` with the newest file of a digest; `undefined` when there is none. */
export async function withCopy<T>(
  root: string,
  appId: string,
  sha256: string,
  act: (path: string, kept_at: Instant) => Promise<T>,
): Promise<T | undefined> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const kept_at = await findCopy(root, appId, sha256)
    if (kept_at === undefined) return undefined
    const path = join(root, appId, sha256.slice(0, 2), nameOf(sha256, kept_at))
    const done = await unlessMissing(async () => ({ result: await act(path, kept_at) }))
    if (done !== undefined) return done.result
  }
  return undefined
}

/** Removes files that were put before an instant; returns how many digests have none left. */
export async function removeCopies(
  root: string,
  appId: string,
  prefix: string,
  digests: readonly string[],
  before: Instant,
): Promise<number> {
  const copies = await copiesIn(root, appId, prefix)
  let removed = 0
  for (const sha256 of digests) {
    const instants = copies.get(sha256) ?? []
    for (const instant of instants.filter((one) => one < before)) {
      const isGone = await removeFile(join(root, appId, prefix, nameOf(sha256, instant)))
      if (isGone && instant === instants.at(-1)) removed += 1
    }
  }
  return removed
}

/** True for the one process that removed it. */
export async function removeFile(path: string): Promise<boolean> {
  const done = await unlessMissing(async () => {
    await unlink(path)
    return true
  })
  return done ?? false
}

/** Removes older files of the named digests, and folders that are empty then. */
export async function removeAll(
  root: string,
  appId: string,
  sha256s: readonly string[],
  before: Instant,
): Promise<number> {
  const digests = [...new Set(sha256s)]
  const prefixes = new Set(digests.map((sha256) => sha256.slice(0, 2)))
  let removed = 0
  for (const prefix of prefixes) {
    const among = digests.filter((sha256) => sha256.startsWith(prefix))
    removed += await removeCopies(root, appId, prefix, among, before)
    await removeIfEmpty(join(root, appId, prefix))
  }
  if (removed > 0) await removeIfEmpty(join(root, appId))
  return removed
}

export async function* listCopies(root: string, appId: string): AsyncGenerator<Listed> {
  const prefixes = (await namesIn(root, appId)).filter((name) => PREFIX.test(name)).sort()
  for (const prefix of prefixes) {
    const copies = await copiesIn(root, appId, prefix)
    for (const sha256 of [...copies.keys()].sort()) {
      const look = async (path: string, kept_at: Instant): Promise<Listed> => ({
        sha256,
        size: await sizeOf(path),
        kept_at,
      })
      const kept_at = copies.get(sha256)?.at(-1) ?? 0
      const path = join(root, appId, prefix, nameOf(sha256, kept_at))
      // A file that was renewed since its name was read has another.
      const listed =
        (await unlessMissing(() => look(path, kept_at))) ??
        (await withCopy(root, appId, sha256, look))
      if (listed !== undefined) yield listed
    }
  }
}

/** @throws KeyhookError `bytes_damaged` for what is no file */
export async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path)
  if (!found.isFile()) throw replaced(new Error(`${path} is not a file`))
  return found.size
}

import { declareArguments, optionsOf, portOf } from '../../lib/internal/arguments.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Instant } from '../../lib/time.ts'
import type { AppBytes } from './contract.ts'
import { clip, requireAppId, requireDigest, requireRange, takeIn } from './intake.ts'

interface Entry {
  readonly bytes: Uint8Array
  readonly kept_at: Instant
}

const readBytes = declareArguments('createMemoryBytes', {
  options: optionsOf({ clock: portOf('now') }),
})

/**
 * Bytes in the memory of one process, for tests and simulations.
 *
 * @example
 * const bytes = createMemoryBytes({ clock: { now: Date.now } })
 * await bytes.put('app00001', new TextEncoder().encode('<h1>Hello</h1>'))
 */
export function createMemoryBytes(
  ...args: readonly [options: { clock: Pick<Clock, 'now'> }]
): AppBytes {
  const [{ clock }] = readBytes(args) as typeof args
  const apps = new Map<string, Map<string, Entry>>()

  function entryOf(appId: string, sha256: string): Entry | undefined {
    requireAppId(appId)
    requireDigest(sha256)
    return apps.get(appId)?.get(sha256)
  }

  function keep(appId: string, sha256: string, bytes: Uint8Array): void {
    const entries = apps.get(appId) ?? new Map<string, Entry>()
    const kept_at = Math.max(clock.now(), entries.get(sha256)?.kept_at ?? 0)
    entries.set(sha256, { bytes, kept_at })
    apps.set(appId, entries)
  }

  return {
    async put(appId, bytes, options) {
      requireAppId(appId)
      const intake = takeIn(bytes, options)
      const chunks: Uint8Array[] = []
      for await (const chunk of intake.chunks) chunks.push(new Uint8Array(chunk))
      const kept = intake.kept()
      keep(appId, kept.sha256, Buffer.concat(chunks))
      return kept
    },
    async get(appId, sha256) {
      const entry = entryOf(appId, sha256)
      return entry === undefined ? undefined : new Uint8Array(entry.bytes)
    },
    async open(appId, sha256, range) {
      requireRange(range)
      const entry = entryOf(appId, sha256)
      if (entry === undefined) return undefined
      const { start, end } = clip(range, entry.bytes.length)
      return one(new Uint8Array(entry.bytes.subarray(start, end)))
    },
    async *list(appId) {
      requireAppId(appId)
      const entries = [...(apps.get(appId) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
      for (const [sha256, { bytes, kept_at }] of entries) {
        yield { sha256, size: bytes.length, kept_at }
      }
    },
    async remove(appId, sha256s, keptBefore) {
      requireAppId(appId)
      sha256s.forEach(requireDigest)
      const entries = apps.get(appId)
      const went = sha256s.filter((sha256) => {
        const kept_at = entries?.get(sha256)?.kept_at ?? Infinity
        return kept_at < keptBefore && entries?.delete(sha256)
      })
      if (entries?.size === 0) apps.delete(appId)
      return went.length
    },
    async drop(appId) {
      requireAppId(appId)
      apps.delete(appId)
    },
    async *apps() {
      yield* apps.keys()
    },
    close: async () => undefined,
  }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

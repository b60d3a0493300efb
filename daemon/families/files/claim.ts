import type { Millis } from '../../../lib/time.ts'
import { PASSAGES_AT_ONCE } from '../../../plugins/platform/contract/files.ts'
import type { FilePlace, FileRecord } from '../../../plugins/platform/contract/files.ts'
import type { Platform } from '../../platform.ts'

/** A file that is being processed, and by which claim. */
export interface Held {
  readonly file: FileRecord
  readonly claim: string
}

/** The file was deleted, or is another's by now. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

export interface KeptClaim {
  /** Aborts once the claim is another's, or the file is gone. */
  readonly lost: AbortSignal
  /** How far the work is, noted with the next beat. */
  tell(stage: string, done: number, total: number | null): void
  /** Beats no more. */
  stop(): Promise<void>
  /** Lets another begin the file at once; this attempt counts for none. */
  release(): Promise<void>
  /** Lets the file be begun anew after a while. */
  giveBack(after: Millis): Promise<void>
}

/** Holds a claim by beats until it is stopped. */
export function keepClaim(
  { store, clock }: Pick<Platform, 'store' | 'clock'>,
  { file, claim }: Held,
  { beat: every, lease }: { readonly beat: Millis; readonly lease: Millis },
  warn: (cause: unknown) => void,
): KeptClaim {
  const lost = new AbortController()
  let place: FilePlace = { stage: null, done: 0, total: null }
  let beating: Promise<void> = Promise.resolve()
  let isStopped = false
  let cancel = clock.after(every, renew)

  function renew(): void {
    beating = beat(lease).finally(() => {
      if (!isStopped) cancel = clock.after(every, renew)
    })
  }

  async function beat(held: Millis): Promise<void> {
    try {
      const renewed = { lease_until: clock.now() + held, ...place }
      const isHeld = await store.write((tx) => tx.files.beat(file.id, claim, renewed))
      if (!isHeld) lost.abort(new ClaimLost())
    } catch (cause) {
      warn(cause)
    }
  }

  return {
    lost: lost.signal,
    tell(stage, done, total) {
      place = { stage, done, total }
    },
    async stop() {
      isStopped = true
      cancel()
      await beating
    },
    async release() {
      const now = clock.now()
      await store.write((tx) => tx.files.release(file.id, claim, now)).catch(warn)
    },
    async giveBack(after) {
      place = { stage: null, done: 0, total: null }
      await beat(after)
    },
  }
}

/** Deletes what earlier attempts have left of a claimed file. False when it is not this claim's any more. */
export async function clearChunks(
  { store }: Pick<Platform, 'store'>,
  { file, claim }: Held,
): Promise<boolean> {
  for (;;) {
    const cleared = await store.write((tx) => tx.files.clear(file.id, claim, PASSAGES_AT_ONCE))
    if (cleared === undefined) return false
    if (cleared < PASSAGES_AT_ONCE) return true
  }
}

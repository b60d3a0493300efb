import type { Platform } from '../../platform.ts'
import type { Heartbeat, HeartbeatOptions } from '../heartbeat.ts'
import { keepBeating } from '../heartbeat.ts'

/** What is logged of a stage that has nothing else to say. */
const STAGES: Readonly<Record<string, string>> = {
  reading: 'Reading the files.',
  asking: 'Asking the language model.',
  repairing: 'Asking the language model to repair its answer.',
  applying: 'Applying the changes.',
}

/** Holds the claim of an edit. */
export function beatForEdit(
  { store, clock }: Pick<Platform, 'store' | 'clock'>,
  { id, claim }: { readonly id: string; readonly claim: string },
  options: Pick<HeartbeatOptions, 'every' | 'lease' | 'ended' | 'warn'>,
): Heartbeat {
  return keepBeating({
    ...options,
    clock,
    stages: STAGES,
    beat: ({ lease_until, place, lines }) =>
      store.write(async (tx) => {
        const heard = await tx.edits.beat(id, claim, { lease_until, ...place })
        if (heard !== 'lost' && lines.length > 0) await tx.edits.log(id, lines)
        return heard
      }),
    release: (now) => store.write((tx) => tx.edits.release(id, claim, now)),
  })
}

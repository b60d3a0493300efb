import type { EditEnd, EditRecord } from '../../plugins/platform/contract/edits.ts'
import type { JobClaim } from '../../plugins/platform/contract/jobs.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { sampleClaim } from './job-samples.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'

/** A prompt that waits; ids sort in the order in which edits were made. */
export function sampleEdit(id: string, changes: Partial<EditRecord> = {}): EditRecord {
  return {
    id,
    app_id: 'app_1',
    account_id: ACCOUNT,
    kind: 'prompt',
    initial: false,
    status: 'queued',
    prompt: 'Make the button blue',
    model: null,
    knowledge: 'allowed',
    message: null,
    reverts: null,
    base_revision: null,
    result_revision: null,
    summary: null,
    changed: [],
    usage: null,
    error: null,
    created_by: { type: 'key', id: 'key_1' },
    created_at: BORN,
    started_at: null,
    finished_at: null,
    stage: null,
    done: 0,
    total: null,
    ...changes,
  }
}

export function sampleEditEnd(changes: Partial<EditEnd> = {}): EditEnd {
  return {
    status: 'completed',
    finished_at: BORN + 500,
    result_revision: 8,
    summary: 'The button is blue',
    changed: [
      { path: 'style.css', change: 'changed' },
      { path: 'blau/knöpfe.css', change: 'added' },
    ],
    usage: { input_tokens: 1200, output_tokens: 80, cached_tokens: 0, estimated: true },
    error: null,
    ...changes,
  }
}

export async function insertEdits(
  store: PlatformStore,
  ...edits: readonly EditRecord[]
): Promise<void> {
  await store.write(async (tx) => {
    for (const edit of edits) await tx.edits.insert(edit)
  })
}

export function claimEdit(
  store: PlatformStore,
  claim: string,
  now: number,
): Promise<EditRecord | undefined> {
  return beginEdit(store, sampleClaim(claim, now))
}

/** Claims the next edit as whoever runs it does. */
export function beginEdit(store: PlatformStore, asked: JobClaim): Promise<EditRecord | undefined> {
  return store.write(async (tx) => {
    const job = await tx.jobs.claim('edit', asked)
    return job && tx.edits.begin(job, asked.now)
  })
}

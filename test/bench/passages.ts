import type { Platform } from '../../daemon/platform.ts'
import type { FileChunk, FileRecord } from '../../plugins/platform/contract/files.ts'
import { chooseFrom, textOf } from './language.ts'

/** Whose the passages are. */
export const SEARCHED = { account: 'acc_0', app: 'benchsearch0' } as const

const PER_FILE = 10_000
const BATCH = 500
/** Words of a passage, which then has about 700 characters. */
const WORDS = 100

/** An app whose files hold so many passages, the same for each run. */
export async function addPassages(
  { store, clock, newId }: Pick<Platform, 'store' | 'clock' | 'newId'>,
  count: number,
): Promise<void> {
  const now = clock.now()
  const born = { created_at: now, updated_at: now }
  const created_by = { type: 'operator', id: null } as const
  await store.write(async (tx) => {
    await tx.accounts.insert({
      id: SEARCHED.account,
      name: 'Bench',
      plan: 'pro',
      key_limit: null,
      suspended_at: null,
      ...born,
    })
    await tx.apps.insert({
      id: SEARCHED.app,
      account_id: SEARCHED.account,
      name: 'Searched',
      alias: null,
      status: 'ready',
      source: { kind: 'template', template_id: 'blank', cloned_from: null },
      revision: null,
      metadata: {},
      created_by,
      ...born,
      archived_at: null,
      purge_at: null,
    })
  })
  const choose = chooseFrom(1)
  for (let left = count; left > 0; left -= PER_FILE) {
    const file = newFile(newId(), now)
    await store.write((tx) => tx.files.insert(file))
    const claim = newId()
    const deadline_at = now + 3_600_000
    const asked = { claim, now, lease_until: deadline_at, deadline_at }
    await store.write(async (tx) => {
      const job = await tx.jobs.claim('file', asked)
      if (job !== undefined) await tx.files.begin(job)
    })
    const chunks = Math.min(left, PER_FILE)
    for (let at = 0; at < chunks; at += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, chunks - at) }, (_, index) =>
        newChunk(at + index, textOf(choose, WORDS)),
      )
      await store.write((tx) => tx.files.addChunks(file.id, claim, batch))
    }
    const end = { status: 'processed', content_type: 'text/plain', chunks, characters: 1 } as const
    await store.write((tx) => tx.files.finish(file.id, claim, now, end))
  }
}

function newFile(id: string, created_at: number): FileRecord {
  return {
    id,
    app_id: SEARCHED.app,
    account_id: SEARCHED.account,
    name: `${id}.txt`,
    content_type: 'text/plain',
    size: 1,
    sha256: id.replaceAll('-', '').repeat(2),
    status: 'queued',
    stage: null,
    done: 0,
    total: null,
    chunks: null,
    characters: null,
    error: null,
    attempts: 0,
    created_by: { type: 'operator', id: null },
    created_at,
    processed_at: null,
  }
}

function newChunk(ordinal: number, text: string): FileChunk {
  return { ordinal, text, heading: null, page: null, start: 0, end: text.length }
}

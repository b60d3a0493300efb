import type {
  JobClaim,
  JobKindName,
  LeasedJob,
  NewJob,
} from '../../plugins/platform/contract/jobs.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { ACCOUNT } from '../../plugins/store/conformance/samples.ts'

export const LEASE = 60_000
export const DEADLINE = 900_000

/** A job that waits; ids sort in the order in which jobs were enqueued. */
export function sampleJob(id: string, changes: Partial<NewJob> = {}): NewJob {
  return {
    id,
    kind: 'file',
    app_id: 'app_1',
    account_id: ACCOUNT,
    queue: null,
    run_at: null,
    ...changes,
  }
}

/** Leased for a minute, to have ended within fifteen. */
export function sampleClaim(claim: string, now: number): JobClaim {
  return { claim, now, lease_until: now + LEASE, deadline_at: now + DEADLINE }
}

export async function enqueueJobs(store: PlatformStore, ...jobs: readonly NewJob[]): Promise<void> {
  await store.write(async (tx) => {
    for (const job of jobs) await tx.jobs.enqueue(job)
  })
}

export function claimJob(
  store: PlatformStore,
  claim: string,
  now: number,
  kind: JobKindName = 'file',
): Promise<LeasedJob | undefined> {
  return store.write((tx) => tx.jobs.claim(kind, sampleClaim(claim, now)))
}

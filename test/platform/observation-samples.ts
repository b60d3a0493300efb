import { createHash } from 'node:crypto'
import { uuid7Of } from '../../lib/internal/uuid7.ts'
import type { Instant } from '../../lib/time.ts'
import type {
  ErrorGroupQuery,
  ErrorGroupRecord,
  ToldErrors,
} from '../../plugins/platform/contract/error-groups.ts'
import type {
  AccessLine,
  CheckRecord,
  LineQuery,
  ProbesDue,
  TailQuery,
  UsageAddition,
} from '../../plugins/platform/contract/observations.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'

/** A time-ordered id; `mark` tells those of one instant from each other, in their order. */
export function idAt(at: Instant, mark = 0): string {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setUint32(4, mark)
  return uuid7Of(at, bytes)
}

/** A request to `app_1` that was answered, so long after the samples were made. */
export function sampleLine(
  after: number,
  changes: Partial<AccessLine> & { readonly mark?: number } = {},
): AccessLine {
  const { mark = 0, ...columns } = changes
  const at = BORN + after
  return {
    id: idAt(at, mark),
    app_id: 'app_1',
    kind: 'published',
    deployment_id: 'dep_1',
    request_id: 'req_1',
    at,
    method: 'GET',
    path: '/',
    status: 200,
    bytes: 1234,
    took_ms: 3,
    ...columns,
  }
}

export const ALL_LINES: LineQuery = {
  app_id: 'app_1',
  kind: null,
  status_class: null,
  since: null,
  until: null,
  path: null,
  deployment_id: null,
  limit: 100,
  after: null,
}

/** The newest lines of `app_1`. */
export const TAIL: TailQuery = { app_id: 'app_1', kind: null, after: null, limit: 99 }

export function sampleUsage(amount: number, changes: Partial<UsageAddition> = {}): UsageAddition {
  return {
    app_id: 'app_1',
    day: '2026-01-31',
    kind: 'published',
    meter: 'requests',
    amount,
    ...changes,
  }
}

/** Told once of `app_1`, so long after the samples were made; its name makes it the error group that it is. */
export function sampleTold(
  name: string,
  after: number,
  changes: Partial<ToldErrors> = {},
): ToldErrors {
  const at = BORN + after
  const digest = createHash('sha256').update(name).digest()
  return {
    id: uuid7Of(at, digest),
    app_id: 'app_1',
    kind: 'published',
    fingerprint: digest.toString('hex'),
    type: 'error',
    title: name,
    culprit: 'load (/app.js)',
    count: 1,
    first_seen: at,
    last_seen: at,
    deployment_id: 'dep_1',
    edit_id: 'edit_1',
    sample: { message: name, stack: null, url: '/' },
    reporter: 0,
    ...changes,
  }
}

/** What is kept of an error group that was told of once. */
export function openedBy(told: ToldErrors): ErrorGroupRecord {
  const { reporter: _, ...kept } = told
  return { ...kept, status: 'open', resolved_at: null, reopened_at: null }
}

export const ALL_ERROR_GROUPS: ErrorGroupQuery = {
  app_id: 'app_1',
  kind: null,
  status: null,
  since: null,
  text: null,
  limit: 1000,
  after: null,
}

export function sampleCheck(after: number, changes: Partial<CheckRecord> = {}): CheckRecord {
  return {
    app_id: 'app_1',
    at: BORN + after,
    status: 'pass',
    latency_ms: 12,
    message: null,
    ...changes,
  }
}

export async function insertObserved(
  store: PlatformStore,
  ...ids: readonly string[]
): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) await tx.apps.insert(sampleApp(id))
  })
}

export const addLines = (store: PlatformStore, ...lines: readonly AccessLine[]): Promise<void> =>
  store.write((tx) => tx.observations.addLines(lines))

export const tell = (store: PlatformStore, ...told: readonly ToldErrors[]): Promise<number> =>
  store.write((tx) => tx.observations.recordErrors(told))

/** Which of these apps are given, to be asked next at an instant. */
export const claimProbes = (
  store: PlatformStore,
  now: number,
  next: number,
  ids: readonly string[],
) =>
  store.write((tx) =>
    tx.observations.claimProbes(
      ids.map((app_id) => ({ app_id, at: next })),
      probesBy(now),
    ),
  )

/** What is due by an instant, of what is put off for a tenth of a second at most. */
export const probesBy = (now: number): ProbesDue => ({ now, furthest: now + 100 })

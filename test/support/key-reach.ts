import { createHash } from 'node:crypto'
import { KeyhookError } from '../../lib/errors.ts'
import type { KeyRecord } from '../../lib/key/record.ts'
import type { Platform } from '../../daemon/platform.ts'
import type { Given, Reach } from './reach.ts'
import { beyond, reachOf } from './reach.ts'

/** The account's keys as their rows stand, by id. */
export type Rows = ReadonlyMap<string, KeyRecord>

export async function readRows({ store }: Platform, accountId: string): Promise<Rows> {
  const { rows } = await store.keys.list({
    account_id: accountId,
    live_at: null,
    within: null,
    limit: 100_000,
    after: null,
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** What a key can do while it lives, by its rows alone; undefined when it has ended. */
export function reachOfKey(rows: Rows, id: string, now: number): Reach | undefined {
  const chain: Given[] = []
  for (let next: string | null = id; next !== null;) {
    const row: KeyRecord | undefined = rows.get(next)
    if (row === undefined || row.revoked_at !== null || (row.expires_at ?? Infinity) <= now) {
      return undefined
    }
    chain.push({ ...row, apps: row.pins === 'all' ? null : [...row.pins] })
    next = row.parent_id
  }
  return reachOf(chain)
}

/** What one value can do, by the rows alone. */
export function reachOfValue(
  rows: Rows,
  value: string,
  id: string,
  now: number,
): Reach | undefined {
  const row = rows.get(id)
  const hash = createHash('sha256').update(value).digest('hex')
  const secret = row?.secrets.find((one) => one.hash === hash)
  if (row === undefined || secret === undefined) return undefined
  const current = secret.version === row.version
  // Each replaced value keeps its own grace, however often the key was rotated since.
  const inGrace = secret.version < row.version && now < (secret.not_after ?? 0)
  return current || inGrace ? reachOfKey(rows, id, now) : undefined
}

/** What the product lets one value do; undefined when it refuses the value. */
export async function grantedReach(
  { verifier }: Platform,
  value: string,
): Promise<Reach | undefined> {
  try {
    const { authority } = await verifier.verify(value)
    const apps = authority.pins === 'all' ? null : [...authority.pins]
    return reachOf([{ ...authority, apps }])
  } catch (cause) {
    if (cause instanceof KeyhookError && cause.status === 401) return undefined
    throw cause
  }
}

/** In words, how what is granted differs from what the rows say or exceeds what the attack began with. */
export function judgeReach(
  granted: Reach | undefined,
  expected: Reach | undefined,
  start: Reach,
): readonly string[] {
  if (granted === undefined) return expected === undefined ? [] : ['refused though it lives']
  if (expected === undefined) return ['lives though it has ended']
  return [
    ...beyond(granted, start).map((one) => `beyond the start: ${one}`),
    ...beyond(granted, expected).map((one) => `beyond its chain: ${one}`),
    ...beyond(expected, granted).map((one) => `short of its chain: ${one}`),
  ]
}

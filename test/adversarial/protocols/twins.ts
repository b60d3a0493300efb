/**
 * Two accounts that are made alike, and asked alike over two protocols: whatever differs is a difference of the
 * protocols.
 *
 * @module
 */
import { join } from 'node:path'
import type { Test } from 'tap'
import { openSqlite } from '../../../plugins/store/sql/sqlite.ts'
import type { SqlClient } from '../../../plugins/store/sql/client.ts'
import type { Answer, AnyBody } from '../../support/world.ts'
import type { Bed, Garden } from '../operations/emitted.ts'
import { openBed } from '../operations/emitted.ts'
import type { Canary } from '../operations/planted.ts'
import type { Ground } from './kinds.ts'
import { KINDS } from './kinds.ts'

/** An account with its records. */
export interface Twin extends Ground {
  readonly bed: Bed
  /** The value of its key of a kind, which is made when it is first asked for. */
  keyOf(kind: string): Promise<string>
}

/** @param change of the account, once its key is made that may do everything: it has no other then */
export async function openTwin(
  garden: Garden,
  canary: Canary,
  change?: (accountId: string) => Promise<unknown>,
): Promise<Twin> {
  const bed = await openBed(garden, canary, '*:*')
  const { world } = garden
  const { user, ids } = bed
  const body = { template_id: 'blank', name: canary('apps') }
  const made = await world.request<{ id: string }>('POST', '/v1/apps', { as: user, body })
  const ground = { world, user, app: ids['app_id'] ?? '', otherApp: made.body.id }
  const keys = new Map<string, string>()
  const keyOf: Twin['keyOf'] = async (kind) => {
    const key = keys.get(kind) ?? (await KINDS[kind]?.(ground))
    if (key === undefined) throw new Error(`no kind ${kind}`)
    keys.set(kind, key)
    return key
  }
  if (change !== undefined) {
    await keyOf('*:*')
    await change(user.account_id)
  }
  return { ...ground, bed, keyOf }
}

/** What is different in every account: ids, values and instants. */
const OWN: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'uuid'],
  [/\bservice_dk_\w+/g, 'value'],
  [/\bwhsec_[\w+/=]+/g, 'secret'],
  [/\bevt_\w+/g, 'event'],
  [/\bpos_[\w-]+/g, 'position'],
  [/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'instant'],
  // Letters and digits without look-alikes.
  [/\b[02-9a-hj-km-np-z]{24}\b/g, 'preview'],
  [/\b[02-9a-hj-km-np-z]{12}\b/g, 'app'],
]

/** Fields whose values are drawn, measured, or tell who asked. */
const DRAWN: ReadonlySet<string> = new Set([
  'next_cursor',
  'request_id',
  'next',
  'records',
  'duration_ms',
])

/** An answer without what is different in every account. */
export function alike({ status, body }: Answer<AnyBody>, { ids }: Bed): string {
  const text = JSON.stringify([status, body], (name, value: unknown) =>
    DRAWN.has(name) ? undefined : value,
  )
  const known = Object.entries(ids).reduce(
    (before, [name, id]) => (id.length > 8 ? before.replaceAll(id, name) : before),
    text,
  )
  return OWN.reduce((before, [pattern, name]) => before.replaceAll(pattern, name), known)
}

/** Tables that others write to while nobody asks. */
const BUSY = /deliver|attempt|feed|request|outbox|counter|process|task/

/** Counts the rows of an account in each table. */
export interface Counter {
  count(accountId: string): Promise<Readonly<Record<string, number>>>
  close(): Promise<void>
}

export async function openCounter(t: Test): Promise<Counter> {
  const client = await openSqlite(join(t.testdirName, 'keyhook.sqlite'))
  const tables = await tablesOf(client)
  return {
    async count(accountId) {
      const parts = tables.map(
        (table) => `SELECT '${table}' AS name, count(*) AS n FROM ${table} WHERE account_id = $1`,
      )
      const rows = await client.read<{ name: string; n: number }>(parts.join(' UNION ALL '), [
        accountId,
      ])
      return Object.fromEntries(rows.map(({ name, n }) => [name, Number(n)]))
    },
    close: () => client.close(),
  }
}

async function tablesOf(client: SqlClient): Promise<readonly string[]> {
  const rows = await client.read<{ name: string }>(
    `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'account_id'
     WHERE m.type = 'table' ORDER BY m.name`,
  )
  return rows.map(({ name }) => name).filter((name) => !BUSY.test(name))
}

import type { EngineStore, EngineTx } from '../../../lib/engine/ports.ts'
import { MOVES } from '../../../lib/delivery/transition.ts'
import type { Creator } from '../../../lib/key/record.ts'
import type {
  EncryptedHeaders,
  EncryptedSecret,
  WebhookPart,
  WebhookRecord,
} from '../../../lib/webhook/record.ts'
import { WEBHOOK_PARTS } from '../../../lib/webhook/record.ts'
import type { Origin } from '../../../lib/webhook/origin.ts'
import { createdOrigin, partsIn } from '../../../lib/webhook/origin.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { WebhookReads, WebhookWrites } from '../contract/webhooks.ts'
import type { Dialect, Query } from './client.ts'
import type { Row } from './rows.ts'
import { BEHIND_ALL, assignments, integer, integerOrNull, textOrNull, toCreator } from './rows.ts'
import { readSizedPage } from './sized-page.ts'
import type { Tables } from './tables.ts'

/** A guard from the table of transitions: `status` is one in which the fact applies. */
export function statusIn(fact: keyof typeof MOVES): string {
  return `status IN (${MOVES[fact].map((status) => `'${status}'`).join(', ')})`
}

/** SQL of the final status and its reason, as in `transition`. */
export const WHEN_DISABLED = {
  status: `CASE WHEN attempts = 0 THEN 'skipped' ELSE 'exhausted' END`,
  end_reason: `CASE WHEN attempts > 0 THEN 'webhook_disabled' END`,
} as const
const ENDED_BY = {
  webhook_disabled: WHEN_DISABLED,
  webhook_deleted: { status: `'canceled'`, end_reason: 'NULL' },
} as const

/** Columns with the keys that a webhook originates from. Ids of users and keys do not overlap. */
export const ORIGINS: readonly string[] = [
  'created_by_id',
  ...WEBHOOK_PARTS.map((part) => `${part}_set_key`),
]

const HEALTHY = 'consecutive_failures = 0, first_failure_at = NULL, failing_at = NULL'

export function webhookReads(
  query: Query,
  t: Tables,
  dialect: Dialect,
): WebhookReads & Pick<EngineStore, 'webhooksOf'> {
  // A join would repeat a webhook, which may be large, for each secret.
  const secrets = `(SELECT ${dialect.gather(SECRET_COLUMNS)} FROM ${t.webhook_secrets}
    WHERE webhook_id = kept.id) AS secrets`

  /** @param where which webhooks, as columns of `kept` */
  async function select(where: string, bind: readonly unknown[]): Promise<WebhookRecord[]> {
    const rows = await query(
      `SELECT kept.*, ${secrets} FROM ${t.webhooks} kept WHERE ${where} ORDER BY kept.id`,
      bind,
    )
    return rows.map(toWebhook)
  }

  return {
    async get(accountId, id) {
      const [webhook] = await select('kept.account_id = $1 AND kept.id = $2', [accountId, id])
      return webhook
    },
    async list({ account_id, status, within, limit, after, bytes }) {
      const { rows, more } = await readSizedPage(query, {
        table: t.webhooks,
        key: ['id'],
        order: 'desc',
        also: secrets,
        size: `octet_length(events) + COALESCE(octet_length(apps), 0)
          + COALESCE(octet_length(headers), 0)`,
        where: `account_id = $1 AND id < $2 AND (CAST($3 AS TEXT) IS NULL OR status = $3)
          AND (CAST($4 AS TEXT) IS NULL OR ${dialect.within('apps', '$4')})`,
        bind: [account_id, after ?? BEHIND_ALL, status, within && JSON.stringify(within)],
        limit,
        bytes,
      })
      return { rows: rows.map(toWebhook), more }
    },
    webhooksOf: (accountId) => select('kept.account_id = $1', [accountId]),
    // From the webhooks, which are few, up to the key, which may have any number of descendants.
    fromKey: (accountId, keyId) =>
      select(
        `kept.id IN (WITH RECURSIVE origins AS (${ORIGINS.map(
          (column) => `SELECT w.id AS webhook_id, k.id AS key_id, k.parent_id
            FROM ${t.webhooks} w JOIN ${t.keys} k ON k.id = w.${column} WHERE w.account_id = $1`,
        ).join(' UNION ')}),
          line AS (
            SELECT webhook_id, key_id, parent_id FROM origins
            UNION
            SELECT line.webhook_id, k.id, k.parent_id
            FROM line JOIN ${t.keys} k ON k.id = line.parent_id
          )
          SELECT webhook_id FROM line WHERE key_id = $2)`,
        [accountId, keyId],
      ),
  }
}

export function webhookWrites(
  query: Query,
  t: Tables,
  dialect: Dialect,
  changes: ChangeSink,
): WebhookWrites & Pick<EngineTx, 'webhooksOf' | 'disableWebhook' | 'markFailing'> {
  /** Records a change of the webhook whose row is given; false without one. */
  function noted([row]: readonly Row[]): boolean {
    if (row !== undefined) changes.push({ kind: 'webhooks', id: String(row['account_id']) })
    return row !== undefined
  }

  async function endDeliveries(
    webhookId: string,
    fact: 'webhook_disabled' | 'webhook_deleted',
    now: number,
  ): Promise<void> {
    const { status, end_reason } = ENDED_BY[fact]
    await query(
      `UPDATE ${t.deliveries} SET status = ${status}, end_reason = ${end_reason},
         next_at = NULL, done_at = $2, claim = NULL
       WHERE webhook_id = $1 AND done_at IS NULL AND ${statusIn(fact)}`,
      [webhookId, now],
    )
  }

  async function insertSecret(
    webhookId: string,
    { id, encrypted, display, created_at, not_after }: EncryptedSecret,
  ): Promise<void> {
    await query(
      `INSERT INTO ${t.webhook_secrets} (id, webhook_id, sealed, display, created_at, not_after)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [id, webhookId, encrypted, display, created_at, not_after],
    )
  }

  return {
    ...webhookReads(query, t, dialect),
    async insert(webhook) {
      await query(
        `INSERT INTO ${t.webhooks} (id, account_id, url, events, description, apps, status,
           disabled_reason, disabled_at, consecutive_failures, first_failure_at, failing_at,
           last_success_at, last_delivery_at, standard_headers, headers, rate_limit, concurrency,
           created_by_type, created_by_id, created_at, updated_at, set_by_type, set_by_id, set_at,
           url_set_key, events_set_key, apps_set_key, secret_set_key)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
           $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)`,
        [
          webhook.id,
          webhook.account_id,
          webhook.url,
          JSON.stringify(webhook.events),
          webhook.description,
          webhook.apps && JSON.stringify(webhook.apps),
          webhook.status,
          webhook.disabled_reason,
          webhook.disabled_at,
          webhook.consecutive_failures,
          webhook.first_failure_at,
          webhook.failing_at,
          webhook.last_success_at,
          webhook.last_delivery_at,
          webhook.standard_headers ? 1 : 0,
          webhook.headers && printHeaders(webhook.headers),
          webhook.rate_limit,
          webhook.concurrency,
          webhook.created_by.type,
          webhook.created_by.id,
          webhook.created_at,
          webhook.updated_at,
          webhook.set_by.type,
          webhook.set_by.id,
          webhook.set_at,
          webhook.set_keys.url,
          webhook.set_keys.events,
          webhook.set_keys.apps,
          webhook.set_keys.secret,
        ],
      )
      for (const secret of webhook.secrets) await insertSecret(webhook.id, secret)
      noted([{ account_id: webhook.account_id }])
    },
    async rotateSecret(id, secret, olderNotAfter, by, now) {
      const set = assignments({ ...originColumns(['secret'], by, now), updated_at: now }, 2)
      const rows = await query(
        `UPDATE ${t.webhooks} SET ${set.sql} WHERE id = $1 RETURNING account_id`,
        [id, ...set.bind],
      )
      if (!noted(rows)) return false
      await query(
        `UPDATE ${t.webhook_secrets} SET not_after = $2
         WHERE webhook_id = $1 AND (not_after IS NULL OR not_after > $2)`,
        [id, olderNotAfter],
      )
      await query(`DELETE FROM ${t.webhook_secrets} WHERE webhook_id = $1 AND not_after <= $2`, [
        id,
        now,
      ])
      await insertSecret(id, secret)
      return true
    },
    async update(id, changes, by, now) {
      const { events, apps, standard_headers, headers, ...others } = changes
      const set = assignments(
        {
          ...others,
          ...(events === undefined ? {} : { events: JSON.stringify(events) }),
          ...(apps === undefined ? {} : { apps: apps && JSON.stringify(apps) }),
          ...(standard_headers === undefined ? {} : { standard_headers: standard_headers ? 1 : 0 }),
          ...(headers === undefined ? {} : { headers: headers && printHeaders(headers) }),
          ...originColumns(partsIn(changes), by, now),
          updated_at: now,
        },
        2,
      )
      const rows = await query(
        `UPDATE ${t.webhooks} SET ${set.sql} WHERE id = $1 RETURNING account_id`,
        [id, ...set.bind],
      )
      return noted(rows)
    },
    async enable(id, now) {
      const rows = await query(
        `UPDATE ${t.webhooks} SET status = 'active', disabled_reason = NULL, disabled_at = NULL,
           ${HEALTHY}, updated_at = $2 WHERE id = $1 RETURNING account_id`,
        [id, now],
      )
      noted(rows)
    },
    async disableWebhook(id, reason, now) {
      const rows = await query(
        `UPDATE ${t.webhooks}
         SET status = 'disabled', disabled_reason = $2, disabled_at = $3, updated_at = $3
         WHERE id = $1 AND status = 'active' RETURNING account_id`,
        [id, reason, now],
      )
      if (rows.length > 0) await endDeliveries(id, 'webhook_disabled', now)
      return noted(rows)
    },
    async markFailing(id, now) {
      const rows = await query(
        `UPDATE ${t.webhooks} SET failing_at = $2
         WHERE id = $1 AND failing_at IS NULL AND status = 'active' RETURNING id`,
        [id, now],
      )
      return rows.length > 0
    },
    async delete(id, now) {
      const rows = await query(`DELETE FROM ${t.webhooks} WHERE id = $1 RETURNING account_id`, [id])
      if (rows.length > 0) await endDeliveries(id, 'webhook_deleted', now)
      return noted(rows)
    },
  }
}

/** The columns that change when somebody sets parts of a webhook. */
function originColumns(
  parts: readonly WebhookPart[],
  by: Creator,
  now: number,
): Readonly<Record<string, unknown>> {
  if (parts.length === 0) return {}
  const key = by.type === 'key' ? by.id : null
  return {
    set_by_type: by.type,
    set_by_id: by.id,
    set_at: now,
    ...Object.fromEntries(parts.map((part) => [`${part}_set_key`, key])),
  }
}

/** A row from before these columns, or from an older daemon, has the origin of its creator. */
function toOrigin(row: Row): Origin {
  if (row['set_by_type'] === null) return createdOrigin(toCreator(row), integer(row['created_at']))
  return {
    set_by: { type: row['set_by_type'] as Creator['type'], id: textOrNull(row['set_by_id']) },
    set_at: integer(row['set_at']),
    set_keys: {
      url: textOrNull(row['url_set_key']),
      events: textOrNull(row['events_set_key']),
      apps: textOrNull(row['apps_set_key']),
      secret: textOrNull(row['secret_set_key']),
    },
  }
}

function toWebhook(row: Row): WebhookRecord {
  const apps = textOrNull(row['apps'])
  const headers = textOrNull(row['headers'])
  return {
    id: String(row['id']),
    account_id: String(row['account_id']),
    url: String(row['url']),
    events: JSON.parse(String(row['events'])) as string[],
    description: textOrNull(row['description']),
    apps: apps === null ? null : (JSON.parse(apps) as string[]),
    status: row['status'] as WebhookRecord['status'],
    disabled_reason: row['disabled_reason'] as WebhookRecord['disabled_reason'],
    disabled_at: integerOrNull(row['disabled_at']),
    consecutive_failures: integer(row['consecutive_failures']),
    first_failure_at: integerOrNull(row['first_failure_at']),
    failing_at: integerOrNull(row['failing_at']),
    last_success_at: integerOrNull(row['last_success_at']),
    last_delivery_at: integerOrNull(row['last_delivery_at']),
    standard_headers: integer(row['standard_headers']) === 1,
    headers: headers === null ? null : readHeaders(headers),
    rate_limit: integerOrNull(row['rate_limit']),
    concurrency: integerOrNull(row['concurrency']),
    created_by: toCreator(row),
    created_at: integer(row['created_at']),
    updated_at: integer(row['updated_at']),
    ...toOrigin(row),
    secrets: toSecrets(String(row['secrets'])),
  }
}

/** The stored form of encrypted headers: JSON whose field has the name `sealed`. */
interface StoredHeaders {
  readonly names: readonly string[]
  readonly sealed: string
}

function printHeaders({ names, encrypted }: EncryptedHeaders): string {
  return JSON.stringify({ names, sealed: encrypted } satisfies StoredHeaders)
}

function readHeaders(stored: string): EncryptedHeaders {
  const { names, sealed } = JSON.parse(stored) as StoredHeaders
  return { names, encrypted: sealed }
}

/** Columns of a secret, in the order of `GatheredSecret`. */
const SECRET_COLUMNS = ['id', 'sealed', 'display', 'created_at', 'not_after']

type GatheredSecret = readonly [string, string, string, number, number | null]

/** The current one first, then the newest. */
function toSecrets(gathered: string): readonly EncryptedSecret[] {
  return (JSON.parse(gathered) as readonly GatheredSecret[])
    .map(([id, encrypted, display, created_at, not_after]) => ({
      id,
      encrypted,
      display,
      created_at,
      not_after,
    }))
    .sort((a, b) => rankOf(a) - rankOf(b) || (a.id > b.id ? -1 : 1))
}

const rankOf = ({ not_after }: EncryptedSecret): number => (not_after === null ? 0 : 1)

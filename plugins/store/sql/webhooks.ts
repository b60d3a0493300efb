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
import type { Column, Group } from './columns.ts'
import { big, creator, flag, group, id, int, json, orNull, text } from './columns.ts'
import { allOf, asked, askedList } from './conditions.ts'
import { mapPage, readSizedPage } from './pages.ts'
import type { Row } from './rows.ts'
import { BEHIND_ALL, assignments, insertion, integer, textOrNull } from './rows.ts'
import type { Tables } from './tables.ts'

/** The stored form of encrypted headers: JSON whose field has the name `sealed`. */
interface StoredHeaders {
  readonly names: readonly string[]
  readonly sealed: string
}

const HEADERS: Column<EncryptedHeaders> = {
  type: 'text',
  nullable: false,
  read(value) {
    const { names, sealed } = JSON.parse(String(value)) as StoredHeaders
    return { names, encrypted: sealed }
  },
  write: ({ names, encrypted }) =>
    JSON.stringify({ names, sealed: encrypted } satisfies StoredHeaders),
}

const WEBHOOK: Group<Omit<WebhookRecord, keyof Origin | 'secrets'>> = group({
  id: id(),
  account_id: id(),
  url: text(),
  events: json<readonly string[]>(),
  description: orNull(text()),
  apps: orNull(json<readonly string[]>()),
  status: text<WebhookRecord['status']>(),
  disabled_reason: orNull(text<NonNullable<WebhookRecord['disabled_reason']>>()),
  disabled_at: orNull(big()),
  consecutive_failures: int(),
  first_failure_at: orNull(big()),
  failing_at: orNull(big()),
  last_success_at: orNull(big()),
  last_delivery_at: orNull(big()),
  standard_headers: flag(),
  trace_headers: flag(),
  headers: orNull(HEADERS),
  rate_limit: orNull(int()),
  concurrency: orNull(int()),
  created_by: creator(),
  created_at: big(),
  updated_at: big(),
})

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
      const page = await readSizedPage(query, {
        table: t.webhooks,
        key: ['id'],
        order: 'desc',
        also: secrets,
        size: `octet_length(events) + COALESCE(octet_length(apps), 0)
          + COALESCE(octet_length(headers), 0)`,
        where: allOf([
          { sql: 'account_id = $1 AND id < $2', bind: [account_id, after ?? BEHIND_ALL] },
          asked('text', status, 'status = $1'),
          askedList(within, dialect.within('apps', '$1')),
        ]),
        limit,
        bytes,
      })
      return mapPage(page, toWebhook)
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
    const row = { id, webhook_id: webhookId, sealed: encrypted, display, created_at, not_after }
    const { sql, bind } = insertion(row)
    await query(`INSERT INTO ${t.webhook_secrets} ${sql}`, bind)
  }

  return {
    ...webhookReads(query, t, dialect),
    async insert(webhook) {
      const { sql, bind } = insertion({ ...WEBHOOK.write(webhook), ...originRow(webhook) })
      await query(`INSERT INTO ${t.webhooks} ${sql}`, bind)
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
      const set = assignments(
        { ...WEBHOOK.write(changes), ...originColumns(partsIn(changes), by, now), updated_at: now },
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

/** The columns of an origin. */
function originRow({ set_by, set_at, set_keys }: Origin): Row {
  const keys = WEBHOOK_PARTS.map((part) => [`${part}_set_key`, set_keys[part]] as const)
  const { type, id } = set_by
  return { set_by_type: type, set_by_id: id, set_at, ...Object.fromEntries(keys) }
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
function toOrigin(
  row: Row,
  { created_by, created_at }: Pick<WebhookRecord, 'created_by' | 'created_at'>,
): Origin {
  if (row['set_by_type'] === null) return createdOrigin(created_by, created_at)
  return {
    set_by: { type: row['set_by_type'] as Creator['type'], id: textOrNull(row['set_by_id']) },
    set_at: integer(row['set_at']),
    // Written out: with names derived from the parts, reading a row takes a third more.
    set_keys: {
      url: textOrNull(row['url_set_key']),
      events: textOrNull(row['events_set_key']),
      apps: textOrNull(row['apps_set_key']),
      secret: textOrNull(row['secret_set_key']),
    },
  }
}

function toWebhook(row: Row): WebhookRecord {
  const webhook = WEBHOOK.read(row)
  // A spread would copy each property of the webhook, which takes longer than reading the row.
  return Object.assign(webhook, toOrigin(row, webhook), {
    secrets: toSecrets(String(row['secrets'])),
  })
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

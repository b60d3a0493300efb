import type { Row } from '../../store/sql/rows.ts'
import { integer } from '../../store/sql/rows.ts'
import type { ObjectKind, PaymentReads, PaymentWrites } from '../contract/payments.ts'
import { having } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import {
  BILLING_CUSTOMERS,
  CHARGES,
  CHARGE_ITEMS,
  CHECKOUTS,
  INVOICES,
  PROCESSOR_EVENTS,
  PROCESSOR_SWEEPS,
  SUBSCRIPTIONS,
} from '../models/payments.ts'
import type { ReadScope as Scope } from './scope.ts'
import type { PlatformModel } from './tables.ts'

type ReadScope = Pick<Scope, 'query' | 't'>

/** $1 is now, $2 how long a plan goes on while its invoice is not paid, or the next period is not known. */
const PAYS_FOR_PLAN = `paid.is_plan = 1
  AND (paid.cancel_at IS NULL OR paid.cancel_at > CAST($1 AS BIGINT))
  AND (paid.current_period_end IS NULL
    OR paid.current_period_end + CAST($2 AS BIGINT) > CAST($1 AS BIGINT))
  AND (paid.status = 'active' OR (paid.status = 'past_due'
    AND COALESCE(paid.past_due_since, paid.updated_at) + CAST($2 AS BIGINT) > CAST($1 AS BIGINT)))`

export function paymentReads({ query, t }: ReadScope): PaymentReads {
  const customers = recordsOf(query, t, BILLING_CUSTOMERS)
  const checkouts = recordsOf(query, t, CHECKOUTS)
  const subscriptions = recordsOf(query, t, SUBSCRIPTIONS)
  const invoices = recordsOf(query, t, INVOICES)
  const charges = recordsOf(query, t, CHARGES)
  const items = recordsOf(query, t, CHARGE_ITEMS)
  const events = recordsOf(query, t, PROCESSOR_EVENTS)
  const sweeps = recordsOf(query, t, PROCESSOR_SWEEPS)
  return {
    customer: (account_id, processor) => customers.get({ account_id, processor }),
    customerOf: (processor, customer_id) => customers.get({ processor, customer_id }),
    checkout: (id) => checkouts.get({ id }),
    checkoutOf: (processor, session_id) => checkouts.get({ processor, session_id }),
    openCheckouts: (accountId, kind, now) =>
      checkouts.select(
        `account_id = $1 AND kind = $2 AND status = 'open' AND expires_at > $3 ORDER BY id DESC`,
        [accountId, kind, now],
      ),
    subscription: (processor, id) => subscriptions.get({ processor, id }),
    subscriptions: (accountId) =>
      subscriptions.select('account_id = $1 ORDER BY created_at DESC, id DESC', [accountId]),
    invoice: (account_id, id) => invoices.get({ account_id, id }),
    invoiceOf: (processor, id) => invoices.get({ processor, id }),
    invoices: ({ account_id, status, limit, after }) =>
      invoices.page({
        of: { account_id },
        key: ['created_at', 'id'],
        filters: having(INVOICES, { status }),
        limit,
        after,
      }),
    charge: (processor, id) => charges.get({ processor, id }),
    chargeItems: (processor, charge_id) =>
      items.select('processor = $1 AND charge_id = $2 ORDER BY id', [processor, charge_id]),
    event: (id) => events.get({ id }),
    isAwaited: async ({ processor, kind, id }) =>
      (await events.first(
        `processor = $1 AND ref_kind = $2 AND ref_id = $3 AND status = 'pending' LIMIT 1`,
        [processor, kind, id],
      )) !== undefined,
    countWaiting: (processor) => events.count({ processor, status: 'pending' }),
    async countFailed(processor) {
      const [row] = await query(
        `SELECT COUNT(*) AS count FROM (
           SELECT ref_kind, ref_id, MAX(id) AS id FROM ${t.processor_events} failed
           WHERE processor = $1 AND status = 'failed' GROUP BY ref_kind, ref_id) failed
         WHERE NOT EXISTS (SELECT 1 FROM ${t.processor_events} later WHERE later.processor = $1
           AND later.ref_kind = failed.ref_kind AND later.ref_id = failed.ref_id
           AND later.id > failed.id AND later.status IN ('done', 'ignored'))`,
        [processor],
      )
      return integer(row?.['count'])
    },
    async countOtherPlans(now, grace) {
      const [row] = await query(
        `SELECT COUNT(*) AS count FROM ${t.accounts} WHERE (plan = 'pro') <> EXISTS (
           SELECT 1 FROM ${t.subscriptions} paid WHERE paid.account_id = ${t.accounts}.id
             AND ${PAYS_FOR_PLAN})`,
        [now, grace],
      )
      return integer(row?.['count'])
    },
    async countElsewhere(processor) {
      const [row] = await query(
        `SELECT COUNT(*) AS count FROM ${t.subscriptions}
         WHERE status IN ('active', 'past_due') AND processor <> $1`,
        [processor ?? ''],
      )
      return integer(row?.['count'])
    },
    sweep: (processor) => sweeps.get({ processor }),
    async lapsed(processor, now, after, limit) {
      const rows = await query(
        `SELECT id FROM ${t.subscriptions} WHERE processor = $1 AND status <> 'canceled'
           AND current_period_end <= $2 AND id > $3 ORDER BY id LIMIT $4`,
        [processor, now, after, limit],
      )
      return rows.map((row) => String(row['id']))
    },
    async changeable(processor, after, limit) {
      const rows = await query<{ kind: ObjectKind; id: string }>(
        `SELECT kind, id FROM (
           SELECT 'checkout' AS kind, session_id AS id FROM ${t.checkouts}
             WHERE processor = $1 AND session_id IS NOT NULL
               AND (status = 'open' OR (kind = 'topup' AND settled_at IS NULL))
           UNION ALL SELECT 'invoice', id FROM ${t.invoices}
             WHERE processor = $1 AND status NOT IN ('paid', 'void')
           UNION SELECT 'charge', charge_id FROM ${t.charge_items}
             WHERE processor = $1 AND kind = 'dispute') own
         WHERE (kind, id) > ($2, $3) ORDER BY kind, id LIMIT $4`,
        [processor, after?.kind ?? '', after?.id ?? '', limit],
      )
      return rows.map(({ kind, id }) => ({ kind, id }))
    },
    async endedPlans(now, grace, limit) {
      const rows = await query(
        `SELECT id FROM ${t.accounts} WHERE plan = 'pro' AND NOT EXISTS (
           SELECT 1 FROM ${t.subscriptions} paid WHERE paid.account_id = ${t.accounts}.id
             AND ${PAYS_FOR_PLAN})
         ORDER BY id LIMIT $3`,
        [now, grace, limit],
      )
      return rows.map((row) => String(row['id']))
    },
  }
}

export function paymentWrites({ query, t }: ReadScope): PaymentWrites {
  const reads = paymentReads({ query, t })

  /** Adds a row; one with the same `key` stays, but for the columns that `changed` names. */
  async function put(
    { table }: PlatformModel,
    row: Row,
    key: string,
    changed: readonly string[] = [],
  ): Promise<boolean> {
    const columns = Object.keys(row)
    const places = columns.map((_, index) => `$${index + 1}`)
    const set = changed.map((column) => `${column} = excluded.${column}`).join(', ')
    const rows = await query(
      `INSERT INTO ${t[table]} (${columns.join(', ')}) VALUES (${places.join(', ')})
       ON CONFLICT ${key} DO ${set === '' ? 'NOTHING' : `UPDATE SET ${set}`} RETURNING 1`,
      Object.values(row),
    )
    return rows.length > 0
  }

  return {
    ...reads,
    async keepCustomer(customer) {
      const { account_id, processor } = customer
      await put(BILLING_CUSTOMERS, BILLING_CUSTOMERS.toRow(customer), '(account_id, processor)')
      return (await reads.customer(account_id, processor)) ?? customer
    },
    async beginCheckout(checkout) {
      const { account_id, request_key, created_at, processor } = checkout
      if (request_key !== null) {
        await query(
          `UPDATE ${t.checkouts} SET request_key = NULL
           WHERE account_id = $1 AND request_key = $2 AND (expires_at <= $3
             OR (kind = 'subscribe' AND (status IN ('expired', 'failed') OR (status = 'complete'
               AND EXISTS (SELECT 1 FROM ${t.subscriptions} made WHERE made.account_id = $1
                 AND made.processor = $4 AND made.updated_at >= ${t.checkouts}.created_at)))))
           RETURNING id`,
          [account_id, request_key, created_at, processor],
        )
      }
      const row = CHECKOUTS.toRow(checkout)
      const isNew = await put(
        CHECKOUTS,
        row,
        '(account_id, request_key) WHERE request_key IS NOT NULL',
      )
      if (isNew) return checkout
      const known = await recordsOf(query, t, CHECKOUTS).first(
        'account_id = $1 AND request_key = $2',
        [account_id, request_key],
      )
      return known ?? checkout
    },
    async openCheckout(id, { session_id, url, expires_at }) {
      const rows = await query(
        `UPDATE ${t.checkouts} SET session_id = $2, url = $3, expires_at = $4, status = 'open'
         WHERE id = $1 AND session_id IS NULL AND status = 'created' RETURNING id`,
        [id, session_id, url, expires_at],
      )
      return rows.length > 0
    },
    async endCheckout(id, status, settledAt) {
      const rows = await query(
        `UPDATE ${t.checkouts} SET status = $2, settled_at = CAST($3 AS BIGINT)
         WHERE id = $1 AND (status <> 'complete' OR ($2 = 'complete' AND settled_at IS NULL
           AND CAST($3 AS BIGINT) IS NOT NULL)) RETURNING id`,
        [id, status, settledAt],
      )
      return rows.length > 0
    },
    async putSubscription(subscription) {
      await put(SUBSCRIPTIONS, SUBSCRIPTIONS.toRow(subscription), '(processor, id)', [
        'is_plan',
        'status',
        'past_due_since',
        'cancel_at',
        'current_period_end',
        'updated_at',
      ])
    },
    async putInvoice(invoice) {
      const { columns } = INVOICES
      const fixed = new Set(['processor', 'id', 'account_id', 'created_at'])
      const changed = columns.filter((column) => !fixed.has(column))
      await put(INVOICES, INVOICES.toRow(invoice), '(processor, id)', changed)
    },
    async addCharge(charge) {
      await put(CHARGES, CHARGES.toRow(charge), '(processor, id)')
    },
    async putChargeItems(given) {
      for (const item of given) {
        await put(CHARGE_ITEMS, CHARGE_ITEMS.toRow(item), '(processor, id)', ['amount', 'active'])
      }
    },
    addEvent: (event) =>
      put(
        PROCESSOR_EVENTS,
        PROCESSOR_EVENTS.toRow(event),
        '(processor, event_id, ref_kind, ref_id) WHERE event_id IS NOT NULL',
      ),
    async endEvent(id, { status, error, done_at }) {
      await query(
        `UPDATE ${t.processor_events} SET status = $2, error = $3, done_at = $4 WHERE id = $1
         RETURNING id`,
        [id, status, error, done_at],
      )
    },
    async putSweep(sweep) {
      await put(PROCESSOR_SWEEPS, PROCESSOR_SWEEPS.toRow(sweep), '(processor)', [
        'swept_at',
        'far_at',
      ])
    },
  }
}

import type { HostingCharge, HostingReads, HostingUse, HostingWrites } from '../contract/hosting.ts'
import type { HeldPrice, Micros, Posted } from '../contract/ledger.ts'
import type { Meter } from '../contract/observations.ts'
import { integer } from '../../store/sql/rows.ts'
import { batchOf } from '../model/batches.ts'
import { recordsOf } from '../model/records.ts'
import { HOSTING_CHARGES } from '../models/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { charge } from './charge.ts'
import { requireCount } from './post.ts'

export function hostingReads({ query, t, dialect }: ReadScope): HostingReads {
  return {
    async due(day, meters, limit) {
      const rows = await query<{ account_id: string; app_id: string; meter: Meter }>(
        `SELECT app.account_id, used.app_id, used.meter
         FROM (SELECT app_id, meter, SUM(total) AS total FROM ${t.app_usage}
             WHERE day = $1 AND ${dialect.among('meter', '$2')} GROUP BY app_id, meter) used
           JOIN ${t.apps} app ON app.id = used.app_id
           LEFT JOIN ${t.hosting_charges} charge
             ON charge.app_id = used.app_id AND charge.day = $1 AND charge.meter = used.meter
         WHERE used.total > COALESCE(charge.quantity, 0)
         ORDER BY app.account_id, used.app_id, used.meter LIMIT $3`,
        [day, JSON.stringify(meters), limit],
      )
      return rows.map(({ account_id, app_id, meter }) => ({ account_id, app_id, day, meter }))
    },
    charged: (appId) =>
      recordsOf(query, t, HOSTING_CHARGES).select('app_id = $1 ORDER BY day, meter', [appId]),
  }
}

export function hostingWrites(scope: ReadScope): HostingWrites {
  return {
    ...hostingReads(scope),
    charge: (use, costOf) => chargeHosting(scope, use, costOf),
  }
}

async function chargeHosting(
  sql: ReadScope,
  use: HostingUse,
  costOf: (price: HeldPrice, quantity: number) => Micros,
): Promise<Posted | undefined> {
  const { query, t } = sql
  const { app_id, day, meter, account_id, currency, price_version, price, now } = use
  const known = await recordsOf(query, t, HOSTING_CHARGES).get({ app_id, day, meter })
  const kept = known ?? { account_id, price_version, price, quantity: 0, charged: 0, parts: 0 }
  const [row] = await query(
    `SELECT COALESCE(SUM(total), 0) AS total FROM ${t.app_usage}
     WHERE app_id = $1 AND day = $2 AND meter = $3`,
    [app_id, day, meter],
  )
  const quantity = integer(row?.['total'])
  if (quantity <= kept.quantity) return undefined
  const amount = costOf(kept.price, quantity) - kept.charged
  const parts = kept.parts + (amount > 0 ? 1 : 0)
  const charged = kept.charged + Math.max(amount, 0)
  await putCharge(sql, { ...kept, app_id, day, meter, quantity, charged, parts }, kept.quantity)
  if (amount <= 0) return undefined
  return charge(sql, {
    account_id: kept.account_id,
    currency,
    // Unique in the ledger too.
    key: `hosting:${app_id}:${day}:${meter}:${parts}`,
    operation: `hosting.${meter}`,
    meter: kept.price.meter,
    quantity: quantity - kept.quantity,
    app_id,
    amount,
    price_version: kept.price_version,
    note: day,
    now,
  })
}

/** The row of an app, day and meter is unique, and is changed only as it was read. */
async function putCharge(
  { query, t, dialect }: ReadScope,
  record: HostingCharge,
  quantity: number,
): Promise<void> {
  const { columns, rows, value } = batchOf(dialect, HOSTING_CHARGES.record)
  const put = await query(
    `INSERT INTO ${t.hosting_charges} (${columns}) SELECT ${columns} FROM (${rows}) made WHERE TRUE
     ON CONFLICT (app_id, day, meter) DO UPDATE SET quantity = excluded.quantity,
       charged = excluded.charged, parts = excluded.parts
     WHERE ${t.hosting_charges}.quantity = CAST($2 AS BIGINT) RETURNING 1`,
    [value([record]), quantity],
  )
  requireCount(put, 1, 'charges of hosting')
}

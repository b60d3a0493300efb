import { z } from 'zod'
import { toIso } from '../../../../lib/time.ts'
import type { Instant } from '../../../../lib/time.ts'
import { DAY } from '../../../../lib/time.ts'
import type { UsageGroup, UsageRow } from '../../../../plugins/platform/contract/ledger.ts'
import { accountOf } from '../../../authority/principal.ts'
import { printMicros } from '../../../billing/money.ts'
import { httpError } from '../../../operations/errors.ts'
import { operation } from '../../../operations/operation.ts'
import { paging } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import { exampleUsage } from '../examples.ts'
import type { usageGroup } from '../schema.ts'
import { usagePage, usageQuery } from '../schema.ts'

/** Days of one request. */
const MOST_DAYS = 400

const GROUPS: Readonly<Record<UsageGroup, string>> = {
  day: 'day',
  app: 'app_id',
  key: 'key_id',
  meter: 'meter',
  operation: 'operation',
}

/** Groups that may be empty: work without an app or key. */
const MAY_BE_NULL: ReadonlySet<UsageGroup> = new Set<UsageGroup>(['app', 'key'])

export const getUsage = operation({
  effect: 'read',
  id: 'billing.usage',
  summary: 'Sum up what was charged by day, app, key, meter or operation',
  method: 'GET',
  path: '/v1/billing/usage',
  access: { scope: 'billing:read', pinned: 'refused' },
  agent: { toolset: 'billing' },
  emits: ['billing'],
  input: { query: z.strictObject({ ...pageQuery, ...usageQuery }) },
  output: usagePage,
  errors: ['invalid_cursor'],
  example: { query: { group_by: 'operation' }, response: exampleUsage },
  csv: {
    columns: ['group', 'count', 'quantity', 'charged_micros', 'charged'],
    row: ({ group, count, quantity, charged_micros, charged }) => [
      Object.values(group)[0] ?? null,
      count,
      quantity,
      charged_micros,
      charged,
    ],
  },
  command: 'billing usage',
  async run({ platform, principal, query, now }) {
    const account_id = accountOf(principal)
    const span = spanOf(query, now)
    const by = query.group_by
    const { limit, after, answer } = paging(query, { list: 'usage', account_id, by, ...span })
    const { ledger } = platform.store
    const asked = { account_id, by, ...span, limit, after: after && after.slice(PREFIX.length) }
    const [page, { count, charged }] = [
      await ledger.usage(asked),
      await ledger.usageTotals({ account_id, ...span }),
    ]
    return {
      as_of: toIso(now),
      currency: platform.billing.currency,
      totals: { count, charged_micros: charged, charged: printMicros(charged) },
      ...answer(
        page,
        ({ group }) => PREFIX + group,
        (row) => toWireUsage(by, row),
      ),
    }
  },
})

/** A cursor is never empty, and a group may be. */
const PREFIX = '.'

function toWireUsage(
  by: UsageGroup,
  { group, count, quantity, charged }: UsageRow,
): z.input<typeof usageGroup> {
  const value = group === '' && MAY_BE_NULL.has(by) ? null : group
  return {
    group: { [GROUPS[by]]: value },
    count,
    quantity,
    charged_micros: charged,
    charged: printMicros(charged),
  }
}

const dayOf = (at: Instant): string => toIso(at).slice(0, 10)

function spanOf(
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: Instant,
): { readonly from: string; readonly to: string } {
  const to = query.to ?? dayOf(now)
  const from = query.from ?? `${to.slice(0, 8)}01`
  const days = (Date.parse(to) - Date.parse(from)) / DAY + 1
  if (days >= 1 && days <= MOST_DAYS) return { from, to }
  throw httpError('invalid_request', {
    errors: [
      {
        location: 'query.from',
        code: 'empty_span',
        message: `Must be at or before to, and at most ${MOST_DAYS} days.`,
      },
    ],
  })
}

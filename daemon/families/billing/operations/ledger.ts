import { z } from 'zod'
import { TRANSACTION_KINDS } from '../../../../plugins/platform/contract/ledger.ts'
import { accountOf } from '../../../authority/principal.ts'
import { operation } from '../../../operations/operation.ts'
import { paging } from '../../cursor.ts'
import { filteredPageQuery, givenInstant, plainText } from '../../wire.ts'
import { exampleLine, exampleVerification } from '../examples.ts'
import { ledgerPage, verification } from '../schema.ts'
import { toWireLine } from '../show.ts'

export const listLedger = operation({
  effect: 'read',
  id: 'billing.ledger',
  summary: 'List the transactions of the account, newest first',
  method: 'GET',
  path: '/v1/billing/ledger',
  access: { scope: 'billing:read', pinned: 'refused' },
  agent: { toolset: 'billing' },
  emits: ['billing'],
  input: {
    query: z.strictObject({
      ...filteredPageQuery('transactions'),
      kind: z.enum(TRANSACTION_KINDS).optional(),
      app_id: plainText.optional(),
      key_id: plainText.optional(),
      from: givenInstant.optional().meta({ description: 'At or after this instant.' }),
      to: givenInstant.optional().meta({ description: 'Before this instant.' }),
    }),
  },
  output: ledgerPage,
  errors: ['invalid_cursor'],
  example: {
    query: { kind: 'capture' },
    response: { data: [exampleLine], has_more: false, next_cursor: null },
  },
  csv: {
    columns: [
      'id',
      'created_at',
      'kind',
      'description',
      'amount',
      'held_micros',
      'debt_micros',
      'balance_after_micros',
      'available_after_micros',
      'operation',
      'meter',
      'quantity',
      'app_id',
      'key_id',
      'price_version',
      'ref_type',
      'ref_id',
      'reverses',
    ],
    row: (line) => [
      line.id,
      line.created_at,
      line.kind,
      line.description,
      line.amount,
      line.held_micros,
      line.debt_micros,
      line.balance_after_micros,
      line.available_after_micros,
      line.operation,
      line.meter,
      line.quantity,
      line.app_id,
      line.key_id,
      line.price_version,
      line.ref?.type ?? null,
      line.ref?.id ?? null,
      line.reverses,
    ],
  },
  command: 'ledger list',
  async run({ platform, principal, query }) {
    const filters = {
      account_id: accountOf(principal),
      kind: query.kind ?? null,
      app_id: query.app_id ?? null,
      key_id: query.key_id ?? null,
      from: query.from ?? null,
      to: query.to ?? null,
    }
    const { limit, afterNumber, answer } = paging(query, { list: 'ledger', ...filters })
    const after = afterNumber()?.toString() ?? null
    const page = await platform.store.ledger.transactions({ ...filters, limit, after })
    return answer(page, ({ seq }) => String(seq), toWireLine)
  },
})

export const verifyLedger = operation({
  effect: 'read',
  id: 'billing.verify',
  summary: 'Compare all balances with the ledger, of one account or of all',
  method: 'GET',
  path: '/v1/billing/ledger/verify',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['billing'],
  input: {},
  output: verification,
  errors: ['operator_required'],
  example: { response: exampleVerification },
  command: 'ledger verify',
  failure: ({ differences_total: total }) =>
    Number(total) > 0 ? `The ledger has ${String(total)} differences.` : undefined,
  async run({ platform, principal }) {
    const found = await platform.store.ledger.verify(principal.account_id)
    return { ...found, differences: [...found.differences] }
  },
})

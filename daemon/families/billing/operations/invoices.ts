import { z } from 'zod'
import type { InvoiceRecord } from '../../../../plugins/platform/contract/payments.ts'
import { INVOICE_STATUSES, placeOfInvoice } from '../../../../plugins/platform/contract/payments.ts'
import { toIso } from '../../../../lib/time.ts'
import { accountOf } from '../../../authority/principal.ts'
import { operation } from '../../../operations/operation.ts'
import { paging } from '../../cursor.ts'
import { filteredPageQuery, instant, pageOf, plainText } from '../../wire.ts'
import { billingError } from '../errors.ts'

const invoiceRecord = z
  .strictObject({
    id: z.string(),
    number: z.string().nullable(),
    status: z.enum(INVOICE_STATUSES),
    currency: z.string(),
    amount_due_micros: z.int(),
    amount_paid_micros: z.int(),
    period: z.strictObject({ start: instant, end: instant }).nullable(),
    hosted_url: z
      .string()
      .nullable()
      .meta({ description: 'Its page at the payment processor; null where it has none.' }),
    pdf_url: z.string().nullable(),
    credit_transaction_id: z
      .string()
      .nullable()
      .meta({ description: 'The transaction of the credit that it brought; null: none.' }),
    created_at: instant,
  })
  .meta({ id: 'Invoice' })

const exampleInvoice = {
  id: 'in_1a2b',
  number: 'KH-0001',
  status: 'paid',
  currency: 'USD',
  amount_due_micros: 25_000_000,
  amount_paid_micros: 25_000_000,
  period: { start: '2026-11-24T09:00:00.000Z', end: '2026-12-24T09:00:00.000Z' },
  hosted_url: 'https://invoice.stripe.com/i/a1',
  pdf_url: 'https://pay.stripe.com/invoice/a1/pdf',
  credit_transaction_id: '01930a62-ac96-774b-bcce-b302099a8057',
  created_at: '2026-11-24T09:00:00.000Z',
} as const

function toWireInvoice(invoice: InvoiceRecord): z.input<typeof invoiceRecord> {
  const { period_start: start, period_end: end } = invoice
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status,
    currency: invoice.currency,
    amount_due_micros: invoice.amount_due,
    amount_paid_micros: invoice.amount_paid,
    period: start === null || end === null ? null : { start: toIso(start), end: toIso(end) },
    hosted_url: invoice.hosted_url,
    pdf_url: invoice.pdf_url,
    credit_transaction_id: invoice.credit_transaction,
    created_at: toIso(invoice.created_at),
  }
}

const access = { scope: 'billing:read', pinned: 'refused' } as const

export const listInvoices = operation({
  effect: 'read',
  id: 'billing.invoices',
  summary: 'List the invoices of the account, newest first',
  method: 'GET',
  path: '/v1/billing/invoices',
  access,
  agent: { toolset: 'billing' },
  emits: ['billing'],
  input: {
    query: z.strictObject({
      ...filteredPageQuery('invoices'),
      status: z.enum(INVOICE_STATUSES).optional(),
    }),
  },
  output: pageOf(invoiceRecord),
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleInvoice], has_more: false, next_cursor: null } },
  command: 'invoice list',
  async run({ platform, principal, query }) {
    const filters = { account_id: accountOf(principal), status: query.status ?? null }
    const { limit, after, answer } = paging(query, { list: 'invoices', ...filters })
    const page = await platform.store.payments.invoices({ ...filters, limit, after })
    return answer(page, placeOfInvoice, toWireInvoice)
  },
})

export const getInvoice = operation({
  effect: 'read',
  id: 'billing.invoice',
  summary: 'Show an invoice',
  method: 'GET',
  path: '/v1/billing/invoices/{invoice_id}',
  access,
  agent: { toolset: 'billing' },
  emits: ['billing'],
  input: { params: z.strictObject({ invoice_id: plainText }) },
  output: invoiceRecord,
  errors: ['invoice_not_found'],
  example: { params: { invoice_id: exampleInvoice.id }, response: exampleInvoice },
  command: 'invoice get',
  async run({ platform, principal, params }) {
    const found = await platform.store.payments.invoice(accountOf(principal), params.invoice_id)
    if (found === undefined) throw billingError('invoice_not_found')
    return toWireInvoice(found)
  },
})

import type { LedgerTransaction, TransactionKind } from '../../plugins/platform/contract/ledger.ts'

const KINDS: Readonly<Record<TransactionKind, string>> = {
  topup: 'Top-up',
  monthly_credit: 'Monthly credit',
  grant: 'Credit granted',
  debt_payment: 'Debt paid',
  hold: 'Held',
  capture: 'Charged',
  release: 'Returned',
  usage: 'Usage',
  expiry: 'Credit expired',
  clawback: 'Payment taken back',
  reinstatement: 'Payment returned',
  revoke: 'Credit revoked',
}

const OPERATIONS: Readonly<Record<string, string>> = {
  'apps.create': 'app by prompt',
  'edits.create': 'prompt edit',
  'files.upload': 'file processing',
  'hosting.requests': 'requests to an app',
  'hosting.errors': 'failed requests to an app',
  'hosting.not_found': 'requests to an app for nothing',
  'hosting.egress_bytes': 'bytes that an app sent',
}

/**
 * What a transaction was, for a person.
 *
 * @example
 * describe({ kind: 'capture', operation: 'edits.create', note: null }) // 'Charged: prompt edit'
 */
export function describe({
  kind,
  operation,
  note,
}: Pick<LedgerTransaction, 'kind' | 'operation' | 'note'>): string {
  const about = operation === null ? null : (OPERATIONS[operation] ?? operation)
  const said = [about, note].filter((part) => part !== null).join(', ')
  return said === '' ? KINDS[kind] : `${KINDS[kind]}: ${said}`
}

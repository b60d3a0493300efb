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
  const about = operation === null ? note : (OPERATIONS[operation] ?? operation)
  return about === null ? KINDS[kind] : `${KINDS[kind]}: ${about}`
}

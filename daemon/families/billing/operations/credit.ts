import type { CreditRecord } from '../../../../plugins/platform/contract/ledger.ts'
import type { PlatformTx } from '../../../../plugins/platform/contract.ts'
import type { Principal } from '../../../authority/principal.ts'
import { creatorOf } from '../../../authority/principal.ts'
import { grantCredit } from '../../../billing/credit.ts'
import { publishLow } from '../../../billing/events.ts'
import { amountOf } from '../../../billing/money.ts'
import { MAX_MICROS } from '../../../../plugins/platform/contract/ledger.ts'
import { httpError } from '../../../operations/errors.ts'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import { audit } from '../../audit/note.ts'
import { billingError } from '../errors.ts'
import { exampleCredit } from '../examples.ts'
import { creditCreation, creditParams, creditRecord } from '../schema.ts'
import { toWireCredit } from '../show.ts'

export const grant = operation({
  effect: 'write',
  id: 'billing.grant',
  summary: 'Grant credit to an account',
  method: 'POST',
  path: '/v1/billing/credits',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['billing'],
  input: { body: creditCreation },
  output: creditRecord,
  status: 201,
  errors: [
    'operator_required',
    'account_required',
    'amount_out_of_range',
    'billing_not_configured',
  ],
  example: {
    body: { amount: '25.00', expires_at: '2027-01-01T00:00:00Z', note: 'trial' },
    response: exampleCredit,
  },
  command: 'credit grant',
  async run(call) {
    const { platform, principal, tx, body, now } = call
    const currency = requireCurrency(platform)
    const account_id = requireAccount(principal)
    const amount = amountOf(body)
    const balance = (await tx.ledger.wallet(account_id, now))?.balance ?? 0
    if (amount === undefined || balance + amount > MAX_MICROS) throw outOfRange(balance)
    const expires_at = body.expires_at ?? null
    if (expires_at !== null && expires_at <= now) throw pastExpiry()
    const given = { account_id, amount, expires_at, note: body.note ?? null, now }
    const by = creatorOf(principal)
    const { transaction_id: id } = await grantCredit(platform, tx, currency, { ...given, by })
    await audit(call, {
      account_id,
      action: 'credit.granted',
      target_type: 'credit',
      target_id: id,
    })
    return toWireCredit(await findCredit(tx, account_id, id))
  },
})

export const revoke = operation({
  effect: 'write',
  id: 'billing.revoke',
  summary: 'Take back what is left of granted credit',
  method: 'POST',
  path: '/v1/billing/credits/{credit_id}/revoke',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['billing'],
  input: { params: creditParams },
  output: creditRecord,
  errors: [
    'operator_required',
    'account_required',
    'credit_not_found',
    'credit_revoked',
    'billing_not_configured',
  ],
  example: {
    params: { credit_id: exampleCredit.id },
    response: {
      ...exampleCredit,
      remaining_micros: 0,
      revoked_micros: 25_000_000,
      expires_at: '2026-11-25T10:00:00.000Z',
      revoked_at: '2026-11-25T10:00:00.000Z',
    },
  },
  command: 'credit revoke',
  async run(call) {
    const { platform, principal, tx, params, now } = call
    const currency = requireCurrency(platform)
    const account_id = requireAccount(principal)
    const id = params.credit_id
    const revoked = await tx.ledger.revoke(account_id, id, creatorOf(principal), now)
    if (revoked === undefined) throw billingError('credit_not_found')
    if (revoked === 'revoked') throw billingError('credit_revoked')
    await publishLow(platform.engine, tx, account_id, currency, revoked.low, now)
    await audit(call, {
      account_id,
      action: 'credit.revoked',
      target_type: 'credit',
      target_id: id,
    })
    return toWireCredit(await findCredit(tx, account_id, id))
  },
})

function requireCurrency({ billing }: Pick<Platform, 'billing'>): string {
  if (billing.currency === null) throw httpError('billing_not_configured')
  return billing.currency
}

function requireAccount({ account_id }: Principal): string {
  if (account_id === null) throw httpError('account_required')
  return account_id
}

function outOfRange(balance: number): Error {
  return billingError('amount_out_of_range', {
    details: { min_micros: 1, max_micros: MAX_MICROS - balance },
  })
}

function pastExpiry(): Error {
  return httpError('invalid_request', {
    errors: [{ location: 'body.expires_at', code: 'in_past', message: 'Must lie in the future.' }],
  })
}

async function findCredit(
  tx: Pick<PlatformTx, 'ledger'>,
  accountId: string,
  id: string,
): Promise<CreditRecord> {
  const credit = await tx.ledger.getCredit(accountId, id)
  if (credit === undefined) throw billingError('credit_not_found')
  return credit
}

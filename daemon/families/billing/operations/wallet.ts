import { accountOf } from '../../../authority/principal.ts'
import { publishLow } from '../../../billing/events.ts'
import { httpError } from '../../../operations/errors.ts'
import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { exampleWallet } from '../examples.ts'
import { wallet, walletChanges } from '../schema.ts'
import { showWallet } from '../show.ts'

export const getWallet = operation({
  effect: 'read',
  id: 'billing.wallet',
  summary: 'Show the balance of the account',
  method: 'GET',
  path: '/v1/billing/wallet',
  access: { scope: 'billing:read', pinned: 'refused' },
  agent: { toolset: 'billing' },
  emits: ['billing'],
  input: {},
  output: wallet,
  errors: [],
  example: { response: exampleWallet },
  command: 'wallet show',
  run: ({ platform, principal, now }) =>
    showWallet(platform, platform.store, accountOf(principal), now),
})

export const updateWallet = operation({
  effect: 'write',
  id: 'billing.update_wallet',
  summary: 'Set the threshold below which billing.balance_low is published',
  method: 'PATCH',
  path: '/v1/billing/wallet',
  access: 'owner',
  agent: { omit: 'A signed-in owner sets it; a key cannot.' },
  emits: ['billing'],
  input: { body: walletChanges },
  output: wallet,
  errors: ['billing_not_configured'],
  example: { body: { low_balance_micros: 5_000_000 }, response: exampleWallet },
  stepUp: true,
  command: 'wallet update',
  async run(call) {
    const { platform, principal, tx, body, now } = call
    const { currency } = platform.billing
    if (currency === null) throw httpError('billing_not_configured')
    const account_id = accountOf(principal)
    const micros = body.low_balance_micros
    const low = await tx.ledger.setLowBalance({ account_id, currency, micros, now })
    await publishLow(platform.engine, tx, account_id, currency, low, now)
    await audit(call, {
      account_id,
      action: 'wallet.updated',
      target_type: 'account',
      target_id: account_id,
    })
    return showWallet(platform, tx, account_id, now)
  },
})

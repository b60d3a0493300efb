import { billingEvents } from '../../billing/events.ts'
import { defineFamily } from '../../operations/family.ts'
import { billingError } from './errors.ts'
import { grant, revoke } from './operations/credit.ts'
import { listLedger, verifyLedger } from './operations/ledger.ts'
import { changePaymentMethod, subscribe, topUp } from './operations/checkouts.ts'
import { getInvoice, listInvoices } from './operations/invoices.ts'
import { cancelSubscription, openPortal } from './operations/subscription.ts'
import { getLimits } from './operations/limits.ts'
import { getPricing } from './operations/pricing.ts'
import { getProcessor } from './operations/processor.ts'
import { getUsage } from './operations/usage.ts'
import { getWallet, updateWallet } from './operations/wallet.ts'

/** Billing: balance, ledger, usage and prices. Work is charged without this family too. */
export const billingFamily = defineFamily({
  name: 'billing',
  scopes: { billing: ['read'] },
  events: billingEvents.types,
  errors: billingError,
  operations: [
    getWallet,
    updateWallet,
    listLedger,
    verifyLedger,
    getLimits,
    getUsage,
    getPricing,
    grant,
    revoke,
    topUp,
    subscribe,
    changePaymentMethod,
    cancelSubscription,
    openPortal,
    listInvoices,
    getInvoice,
    getProcessor,
  ],
})

import type { Fact } from '../../../plugins/billing/contract.ts'
import type { Applying, Outcome } from './applying.ts'
import { applyCharge } from './charge.ts'
import { applyCheckout } from './checkout-fact.ts'
import { applyInvoice } from './invoice.ts'
import { applySubscription } from './subscription.ts'

type Apply<Kind extends Fact['kind']> = (
  applying: Applying,
  fact: Extract<Fact, { readonly kind: Kind }>,
) => Promise<Outcome>

const APPLY: { readonly [Kind in Fact['kind']]: Apply<Kind> } = {
  checkout: applyCheckout,
  invoice: applyInvoice,
  subscription: applySubscription,
  charge: applyCharge,
}

/** Makes the records and the ledger agree with a fact; once they do, it changes nothing. */
export function applyFact<Kind extends Fact['kind']>(
  applying: Applying,
  fact: Extract<Fact, { readonly kind: Kind }>,
): Promise<Outcome> {
  return (APPLY[fact.kind] as Apply<Kind>)(applying, fact)
}

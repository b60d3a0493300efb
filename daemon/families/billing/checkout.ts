import type { Creator } from '../../../lib/key/record.ts'
import { HOUR } from '../../../lib/time.ts'
import type { CheckoutKind, CheckoutSession, Micros } from '../../../plugins/billing/contract.ts'
import { ProcessorError } from '../../../plugins/billing/contract.ts'
import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import type { CheckoutRecord } from '../../../plugins/platform/contract/payments.ts'
import { accountOf, creatorOf } from '../../authority/principal.ts'
import type { Processing } from '../../billing/billing.ts'
import { paysForPlan } from '../../billing/plan.ts'
import type { OwnCall } from '../../operations/call.ts'
import { httpError } from '../../operations/errors.ts'
import type { Platform } from '../../platform.ts'
import { audit } from '../audit/note.ts'
import { askProcessor, requireProcessing } from './ask-processor.ts'
import { billingError } from './errors.ts'

/** What a user wants to do on the processor's pages. */
export interface Wanted {
  readonly kind: CheckoutKind
  /** Of a top-up. */
  readonly amount: Micros | null
  readonly success_url: string
  readonly cancel_url: string
}

/** A checkout whose page can be opened. */
export type OpenCheckout = CheckoutRecord & {
  readonly session_id: string
  readonly url: string
}

type Calling = Omit<OwnCall, 'params' | 'query' | 'body'>

const CAPABILITIES = {
  topup: undefined,
  subscribe: 'subscriptions',
  payment_method: 'paymentMethods',
} as const

const ACTIONS: Readonly<Record<CheckoutKind, string>> = {
  topup: 'billing.topup_started',
  subscribe: 'billing.subscription_started',
  payment_method: 'billing.payment_method_started',
}

/** A session that was not answered is given up by then. */
const UNANSWERED = HOUR

/**
 * Opens a page of the processor. Each step is kept before the next, and the processor is asked with a key of
 * the checkout: the same request continues where a crash ended it, and gets the same session.
 */
export async function startCheckout(call: Calling, wanted: Wanted): Promise<OpenCheckout> {
  const { platform } = call
  const processing = requireProcessing(platform, CAPABILITIES[wanted.kind])
  const checkout = await call.unit((tx) => begin(call, tx, processing, wanted))
  if (isOpen(checkout)) return checkout
  const customer_id = await customerOf(call, processing)
  const { kind, amount } = wanted
  const session = await askFor(call, checkout, () =>
    processing.processor.createCheckout({
      id: checkout.id,
      kind,
      customer_id,
      amount_micros: amount,
      // The same key with other addresses would be refused.
      success_url: checkout.success_url ?? wanted.success_url,
      cancel_url: checkout.cancel_url ?? wanted.cancel_url,
      key: `keyhook-checkout-${checkout.id}`,
    }),
  )
  await call.unit((tx) => tx.payments.openCheckout(checkout.id, session), { detached: true })
  return { ...checkout, ...session, status: 'open' }
}

function isOpen(checkout: CheckoutRecord): checkout is OpenCheckout {
  return checkout.session_id !== null && checkout.url !== null
}

async function begin(
  call: Calling,
  tx: PlatformTx,
  { name }: Processing,
  wanted: Wanted,
): Promise<CheckoutRecord> {
  const { kind, amount, success_url, cancel_url } = wanted
  const { platform, principal, idempotencyKey } = call
  const account_id = accountOf(principal)
  const now = platform.clock.now()
  if (kind === 'subscribe') {
    const subscriptions = await tx.payments.subscriptions(account_id)
    if (subscriptions.some((one) => paysForPlan(one, now))) {
      throw billingError('already_subscribed')
    }
    const open = await tx.payments.openCheckouts(account_id, kind, now)
    const own = open.find(({ processor }) => processor === name)
    if (own !== undefined) return own
  }
  const created_by = creatorOf(principal)
  const checkout = await tx.payments.beginCheckout({
    id: platform.newId(),
    account_id,
    kind,
    amount,
    processor: name,
    request_key: requestKeyOf(wanted, name, created_by, idempotencyKey),
    session_id: null,
    url: null,
    success_url,
    cancel_url,
    status: 'created',
    settled_at: null,
    created_by,
    created_at: now,
    expires_at: now + UNANSWERED,
  })
  if (checkout.amount !== amount || checkout.processor !== name) {
    throw httpError('idempotency_mismatch')
  }
  await audit(
    { ...call, tx, now },
    { account_id, action: ACTIONS[kind], target_type: 'checkout', target_id: checkout.id },
  )
  return checkout
}

/** What makes two requests the same; null for none. All that subscribe an account are one: two pages could be paid. */
function requestKeyOf(
  { kind }: Wanted,
  processor: string,
  { type, id }: Creator,
  idempotencyKey: string | undefined,
): string | null {
  if (kind === 'subscribe') return `subscribe ${processor}`
  return idempotencyKey === undefined ? null : `${kind} ${type} ${id ?? ''} ${idempotencyKey}`
}

/** The customer of the account; the same key makes no second one. */
async function customerOf(call: Calling, { name, processor }: Processing): Promise<string> {
  const { platform, principal } = call
  const account_id = accountOf(principal)
  const known = await platform.store.payments.customer(account_id, name)
  if (known !== undefined) return known.customer_id
  const { customer_id } = await askProcessor(() =>
    processor.createCustomer({ account_id, email: null, key: `keyhook-customer-${account_id}` }),
  )
  const customer = { account_id, processor: name, customer_id, created_at: platform.clock.now() }
  const kept = await call.unit((tx) => tx.payments.keepCustomer(customer), { detached: true })
  return kept.customer_id
}

/** @throws KeyhookError `amount_out_of_range` for a top-up that the processor does not take */
async function askFor(
  call: Calling,
  { id, kind }: CheckoutRecord,
  ask: () => Promise<CheckoutSession>,
): Promise<CheckoutSession> {
  try {
    return await ask()
  } catch (cause) {
    if (kind === 'topup' && cause instanceof ProcessorError && cause.code === 'rejected') {
      await call.unit((tx) => tx.payments.endCheckout(id, 'failed', null), { detached: true })
      throw billingError('amount_out_of_range', {
        message: 'The payment processor does not take this amount.',
        cause,
      })
    }
    return askProcessor(() => Promise.reject(cause as Error))
  }
}

/**
 * Where the processor sends a user back to; by default a page that says when credit arrives.
 *
 * @throws KeyhookError `return_url_not_allowed`
 */
export function returnUrl({ baseUrl }: Pick<Platform, 'baseUrl'>, given?: string): string {
  if (given === undefined) return `${baseUrl}${DONE_PATH}`
  const isOurs = URL.canParse(given) && new URL(given).origin === new URL(baseUrl).origin
  if (!isOurs) throw billingError('return_url_not_allowed')
  return given
}

/** Below the base URL. */
const DONE_PATH = '/billing/done'

import { ProcessorError } from '../../../plugins/billing/contract.ts'
import { httpError } from '../../operations/errors.ts'
import type { Processing } from '../../billing/billing.ts'
import type { Platform } from '../../platform.ts'
import { billingError } from './errors.ts'

type Capability = keyof Processing['processor']['capabilities']

/** @throws KeyhookError `billing_not_configured` where no processor has the capability */
export function requireProcessing(
  { billing }: Pick<Platform, 'billing'>,
  capability?: Capability,
): Processing & { readonly currency: string } {
  const { processing, currency } = billing
  if (processing === undefined || currency === null) throw httpError('billing_not_configured')
  const isAble = capability === undefined || processing.processor.capabilities[capability]
  if (!isAble) throw httpError('billing_not_configured')
  return { ...processing, currency }
}

/**
 * Calls the processor for a request.
 *
 * @throws KeyhookError `processor_unavailable`, `billing_not_configured` or `internal_error`
 */
export async function askProcessor<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    if (!(cause instanceof ProcessorError)) throw cause
    const internal = cause.internal ?? cause.code
    if (cause.code === 'unavailable') {
      throw billingError('processor_unavailable', { internal, cause })
    }
    if (cause.code === 'misconfigured') {
      throw httpError('billing_not_configured', { internal, cause })
    }
    throw httpError('internal_error', { internal, cause })
  }
}

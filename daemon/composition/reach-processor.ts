import { SECOND } from '../../lib/time.ts'
import { ProcessorError } from '../../plugins/billing/contract.ts'
import type { Config } from '../config/config.ts'
import type { Family } from '../operations/family.ts'
import { clockOf } from '../machine/ports.ts'
import { loadPrices } from './billing.ts'
import { openInOrder } from './closers.ts'
import { openProcessing } from './processor.ts'

/** How long a processor may take that is asked whether it answers. */
const REACHED_WITHIN = 10 * SECOND

/**
 * Opens the payment processor once, and asks it whether it sells the plan at the price of the price file.
 *
 * @throws Error that says what is wrong, and names no secret
 */
export async function reachProcessor(
  config: Config,
  families: readonly Pick<Family, 'name'>[],
): Promise<{ readonly detail: string }> {
  const clock = clockOf({ now: Date.now })
  const opened = await openInOrder(async (closers) => ({
    processing: await openProcessing(config, { clock, ownHosts: [] }, closers),
  }))
  // Its timer keeps the signal: composite signals, which the processor makes of it, do not.
  const late = new AbortController()
  const failure = new ProcessorError('unavailable', {
    internal: `no answer in ${REACHED_WITHIN} ms`,
  })
  const cancel = clock.after(REACHED_WITHIN, () => late.abort(failure), 'background')
  try {
    const { price_micros } = (await loadPrices(config, families)).at(clock.now()).plans.pro
    const plan = { price_micros, currency: config.currency }
    const { name, processor } = opened.processing ?? {}
    const { detail = '' } = (await processor?.check(plan, late.signal)) ?? {}
    return { detail: `${name ?? ''}: ${detail}` }
  } catch (cause) {
    if (!(cause instanceof ProcessorError)) throw cause
    throw new Error(cause.internal ?? cause.message, { cause })
  } finally {
    cancel()
    await opened.close()
  }
}

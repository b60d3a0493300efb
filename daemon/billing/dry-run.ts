import type { OperationInput, QuoteCall } from '../operations/call.ts'
import type { Quote } from '../operations/operation.ts'
import { accountOf } from '../authority/principal.ts'
import { payerOf } from './billing.ts'
import { exampleQuote, priceQuote, toWireQuote } from './quote.ts'

/** What a dry run asks the price of. */
interface Priced {
  readonly operation: string
  readonly app_id: string | null
  /** Quantities of the works that would be accepted; none for what is free. */
  readonly quantities: readonly number[]
}

/**
 * The dry run of a charged operation.
 *
 * @param ask checks the request as far as it can be checked without doing anything
 */
export function dryRun<Input extends OperationInput>(
  ask: (call: QuoteCall<Input>) => Promise<Priced>,
): Quote<Input, typeof priceQuote> {
  return {
    output: priceQuote,
    example: exampleQuote,
    async run(call) {
      const { platform, principal, now } = call
      const asked = {
        ...(await ask(call)),
        account_id: accountOf(principal),
        ...payerOf(principal),
        now,
      }
      return toWireQuote(await platform.billing.quote(platform.store, asked))
    },
  }
}

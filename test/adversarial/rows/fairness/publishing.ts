import type { Row } from '../../table.ts'

/** What a request to publish may cost others. */
export const PUBLISH_ROWS: readonly Row[] = [
  {
    id: 'F54',
    case: 'An account with fifty webhooks publishes 500 events that all of them receive, with an Idempotency-Key and without.',
    answer:
      'A request makes 1,000 deliveries at most: `20 accepted` and `480 too_many_deliveries`, with `1000 deliveries` in the commit.',
  },
  {
    id: 'F55',
    case: 'A key publishes batches of 500 undeclared or malformed events, and events without data, as fast as it can, where the limit of writes is 20 a minute.',
    answer:
      'Each request with a refusal counts: `21 answered`, then `429 rate_limited`, also to another key of the account; `202 to another account`, and `202` to the key as soon as it owes nothing.',
  },
]

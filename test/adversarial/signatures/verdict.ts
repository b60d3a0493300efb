import type { WebhookHeaders } from '../../../lib/webhook/verify.ts'
import { verifyWebhook, WebhookVerificationError } from '../../../lib/webhook/verify.ts'
import type { Saw } from '../run.ts'

/** A delivery as a receiver gets it. */
export interface Received {
  readonly body: Uint8Array | ArrayBuffer | string
  readonly headers: WebhookHeaders
  readonly secret: string | readonly string[]
  /** Unix time in seconds. */
  readonly now: number
}

/** `verified`, or the code of the refusal, noted; any other error is passed on. */
export async function verdictOf(
  { body, headers, secret, now }: Received,
  saw: Saw,
): Promise<string> {
  const verdict = await verifyWebhook(body, headers, secret, { now: now * 1000 }).then(
    () => 'verified',
    (cause: unknown) => {
      if (cause instanceof WebhookVerificationError) return cause.code
      throw cause
    },
  )
  saw(verdict)
  return verdict
}

import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import { destinationOf } from '../../../lib/webhook/destination.ts'
import { httpError } from '../../operations/errors.ts'
import type { Platform } from '../../platform.ts'
import { webhookError } from './errors.ts'
import { judgeTarget } from './service.ts'

/**
 * Checks where a webhook is to send, and returns its canonical url: a public address, or a destination that the
 * operator declares for the account.
 *
 * @throws KeyhookError `unknown_destination`, `invalid_url`, `url_not_public`
 */
export async function judgeAddress(
  platform: Platform,
  accountId: string,
  url: string,
): Promise<string> {
  const named = destinationOf(url)
  if (named === undefined) return judgeTarget(platform, url)
  const { type, name } = named
  if (platform.plugins.destinations.get(type)?.validate(name, accountId) === true) return url
  // Not which there are: the names are the operator's.
  const message = `There is no destination ${url}.`
  throw webhookError('unknown_destination', {
    errors: [{ location: 'body.url', code: 'unknown_destination', message }],
  })
}

/**
 * Refuses custom headers for a destination: a broker routes by some names, and one that did not know a header
 * would lose it silently.
 *
 * @param url where the webhook will send
 * @throws KeyhookError `invalid_request`
 */
export function requireHeadersAllowed(
  url: string,
  headers: Readonly<Record<string, string>> | null | undefined,
): void {
  const [name] = Object.keys(headers ?? {})
  if (name === undefined || destinationOf(url) === undefined) return
  const message = 'Only a webhook of the type https has headers of its own.'
  throw httpError('invalid_request', {
    errors: [{ location: 'body.headers', code: 'invalid_header', message }],
  })
}

/** Whether two urls send to the same receiver, which may know the webhook's headers. */
export function isSameReceiver(url: string, { url: earlier }: Pick<WebhookRecord, 'url'>): boolean {
  if (destinationOf(url) !== undefined || destinationOf(earlier) !== undefined) {
    return url === earlier
  }
  return new URL(url).origin === new URL(earlier).origin
}

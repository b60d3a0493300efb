import { kernelError } from '../../../lib/errors.ts'
import type { RefusalReason } from '../../../lib/egress/url.ts'
import { REFUSALS } from '../../../lib/egress/url.ts'
import type { Authority } from '../../../lib/grant/authority.ts'
import { holdsApp, withinPins } from '../../../lib/grant/authority.ts'
import { refuseDelegation } from '../../../lib/grant/delegate.ts'
import { suggestEach } from '../../../lib/internal/nearest.ts'
import { EVERY_BUILT_IN, isFamily } from '../../../lib/webhook/match.ts'
import type { WebhookRecord, EncryptedSecret } from '../../../lib/webhook/record.ts'
import type {
  DeliveryReads,
  InspectedDelivery,
} from '../../../plugins/store/contract/deliveries.ts'
import type { WebhookReads } from '../../../plugins/store/contract/webhooks.ts'
import type { Platform } from '../../platform.ts'
import type { Principal } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { audit, originsOf } from '../audit/note.ts'
import { accountOf } from '../../authority/principal.ts'
import { webhookError } from './errors.ts'
import { secretAad } from '../../../lib/engine/targets.ts'
import type { Instant } from '../../../lib/time.ts'
import { mintSecret, secretDisplay } from '../../../lib/webhook/secret.ts'
import type { FieldError } from '../../../lib/errors.ts'
import { customHeaderProblem } from '../../../lib/webhook/headers.ts'
import { httpError } from '../../operations/errors.ts'

/** Finds a webhook that the principal may read. */
export async function findWebhook(
  webhooks: Pick<WebhookReads, 'get'>,
  principal: Principal,
  id: string,
): Promise<WebhookRecord> {
  const webhook = await webhooks.get(accountOf(principal), id)
  if (webhook === undefined || !isVisible(webhook, principal)) {
    throw webhookError('webhook_not_found')
  }
  return webhook
}

/** A pinned key reads the webhooks whose apps are all within its pins. */
export function isVisible(
  { apps }: Pick<WebhookRecord, 'apps'>,
  { authority }: Principal,
): boolean {
  return withinPins(apps === null ? 'all' : new Set(apps), authority.pins)
}

/**
 * Finds a delivery of that webhook that the principal may read: a pinned key reads those of its apps. The
 * webhook may have received others under an earlier filter.
 */
export async function findDelivery(
  deliveries: Pick<DeliveryReads, 'get'>,
  principal: Principal,
  webhookId: string,
  id: string,
): Promise<InspectedDelivery> {
  const found = await deliveries.get(accountOf(principal), webhookId, id)
  const { pins } = principal.authority
  const visible =
    found !== undefined &&
    (pins === 'all' || (found.delivery.app_id !== null && holdsApp(pins, found.delivery.app_id)))
  if (!visible) throw webhookError('delivery_not_found')
  return found
}

/**
 * The app filter of a webhook: the requested apps within the pins, or all pins when none were requested.
 *
 * @throws KeyhookError `scope_not_delegable` for a pinned key that requests apps beyond its own
 */
export function grantApps(
  { authority }: { readonly authority: Authority },
  requested: readonly string[] | null | undefined,
): readonly string[] | null {
  const { pins } = authority
  if (requested === undefined) return pins === 'all' ? null : [...pins].sort()
  refuseDelegation(authority, {
    ...authority,
    pins: requested === null ? 'all' : new Set(requested),
  })
  return requested
}

/** Faults of the URL itself; every other reason is about its target. */
const FORMAT_FAULTS: ReadonlySet<RefusalReason> = new Set<RefusalReason>([
  'malformed',
  'too_long',
  'control_character',
  'backslash',
  'scheme',
  'userinfo',
  'fragment',
  'port',
])

/**
 * Checks the target of deliveries, with the current addresses of its name, and returns the canonical URL.
 *
 * @param location where the request has the URL
 * @throws KeyhookError `invalid_url`, `url_not_public`
 */
export async function judgeTarget(
  { plugins }: Platform,
  url: string,
  location = 'body.url',
): Promise<string> {
  const verdict = await plugins.egress.judge(url)
  if (verdict.ok) return verdict.url.href
  const { reason } = verdict
  throw kernelError(FORMAT_FAULTS.has(reason) ? 'invalid_url' : 'url_not_public', {
    details: { reason },
    errors: [{ location, code: reason, message: describeRefusal(reason, url) }],
  })
}

/** Plain http has a remedy that the general message does not name. */
function describeRefusal(reason: RefusalReason, url: string): string {
  if (reason === 'scheme') return /^http:/i.test(url) ? PLAIN_HTTP : `${REFUSALS.scheme} ${HTTPS}`
  return reason === 'malformed' ? `${REFUSALS.malformed} ${HTTPS}` : REFUSALS[reason]
}

const HTTPS = 'Begin it with https://.'

const PLAIN_HTTP =
  'Begin it with https://. Plain http is permitted only for targets listed in KEYHOOK_WEBHOOK_ALLOW (webhookAllow), such as 127.0.0.1; `keyhook serve --dev` lists this machine.'

/**
 * @throws KeyhookError `unknown_event_type`, naming every type that nobody publishes to the account and
 *   every text that is neither a type nor a pattern
 */
export async function requireKnownTypes(
  { eventTypes }: Platform,
  accountId: string,
  types: readonly string[],
): Promise<void> {
  const isKnown = async (type: string): Promise<boolean> =>
    type === EVERY_BUILT_IN || isFamily(type) || (await eventTypes.knows(accountId, type))
  const known = await Promise.all(types.map(isKnown))
  if (!known.includes(false)) return
  const candidates = [...eventTypes.builtIn.keys(), ...(await eventTypes.declared(accountId))]
  const suggest = suggestEach(candidates)
  const errors = types.flatMap((type, index) =>
    known[index] === true
      ? []
      : [
          {
            location: `body.events[${index}]`,
            code: 'unknown_event_type',
            message: `There is no event type ${JSON.stringify(type)}.${suggest(type)}`,
          },
        ],
  )
  throw webhookError('unknown_event_type', { errors })
}

/** Records a change of a webhook, in its new state. */
export async function noteChange(
  call: Change,
  webhook: WebhookRecord,
  action: 'webhook.created' | 'webhook.updated' | 'webhook.deleted' | 'webhook.secret_rotated',
): Promise<void> {
  const { account_id, id } = webhook
  const origins = originsOf(webhook)
  await audit(call, { account_id, action, target_type: 'webhook', target_id: id, origins })
}

/** A new signing secret, and its encrypted record. */
export function createSecret(
  { newId, random, keyring }: Pick<Platform, 'newId' | 'random' | 'keyring'>,
  now: Instant,
): { readonly value: string; readonly secret: EncryptedSecret } {
  const id = newId()
  const value = mintSecret(random)
  const encrypted = keyring.encrypt(value, secretAad(id))
  return {
    value,
    secret: { id, encrypted, display: secretDisplay(value), created_at: now, not_after: null },
  }
}

/**
 * @param locate where the request has a header, by its name
 * @throws KeyhookError `invalid_request` naming every header that may not be sent
 */
export function judgeHeaders(
  { names }: Pick<Platform, 'names'>,
  headers: Readonly<Record<string, string>> | null | undefined,
  locate = (name: string): string => `body.headers.${name}`,
): void {
  const seen = new Set<string>()
  const errors = Object.entries(headers ?? {}).flatMap(([name, value]): FieldError[] => {
    const twice = seen.has(name.toLowerCase()) ? 'Duplicate header.' : undefined
    seen.add(name.toLowerCase())
    const message = customHeaderProblem(name, value, names) ?? twice
    return message === undefined
      ? []
      : [{ location: locate(name), code: 'invalid_header', message }]
  })
  if (errors.length > 0) throw httpError('invalid_request', { errors })
}

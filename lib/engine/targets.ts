import type { Instant } from '../time.ts'
import type { SealedHeaders, WebhookRecord } from '../webhook/record.ts'
import type { AccountCache } from './account-cache.ts'
import { createAccountCache } from './account-cache.ts'
import type { Keyring } from './keyring.ts'
import type { EngineStore } from './ports.ts'

/** A webhook ready to be sent to: its record with its secrets opened. */
export interface Target {
  readonly webhook: WebhookRecord
  /** Undefined when one, or a header, cannot be opened: then nothing is sent, rather than sent unsigned. */
  readonly secrets: readonly OpenSecret[] | undefined
  /** The owner's own headers. */
  readonly headers: Readonly<Record<string, string>>
}

export interface OpenSecret {
  readonly value: string
  readonly not_after: Instant | null
}

/** The webhooks of an account by their ids, oldest first. */
export type AccountTargets = ReadonlyMap<string, Target>

export interface Targets extends Pick<AccountCache<AccountTargets>, 'peek' | 'get'> {
  /** The webhook as it is now, at once where it is known; undefined when it was deleted. */
  find(accountId: string, webhookId: string): Target | undefined | Promise<Target | undefined>
}

/** Where a webhook's secret is sealed to. */
export function secretPlace(secretId: string): string {
  return `webhook_secret|${secretId}`
}

/** Where a webhook's own headers are sealed to. */
export function headersPlace(webhookId: string): string {
  return `webhook_headers|${webhookId}`
}

/** The webhooks of each account, opened once and kept until one of them changes. */
export function createTargets(
  { webhooksOf, changes }: Pick<EngineStore, 'webhooksOf' | 'changes'>,
  keyring: Keyring,
): Targets {
  const { peek, get, drop, dropAll } = createAccountCache(
    async (accountId): Promise<AccountTargets> =>
      new Map(
        (await webhooksOf(accountId)).map((webhook) => [webhook.id, openTarget(webhook, keyring)]),
      ),
    () => changes.isCurrent(),
  )
  changes.listen((change) => {
    if (change === 'all') dropAll()
    else if (change.kind === 'webhooks') drop(change.id)
  })
  return {
    peek,
    get,
    find(accountId, webhookId) {
      const known = peek(accountId)
      if (known !== undefined) return known.get(webhookId)
      return get(accountId).then((read) => read.get(webhookId))
    },
  }
}

function openTarget(webhook: WebhookRecord, keyring: Keyring): Target {
  try {
    const secrets = webhook.secrets.map(({ id, sealed, not_after }) => ({
      value: keyring.open(sealed, secretPlace(id)),
      not_after,
    }))
    return { webhook, secrets, headers: openHeaders(webhook, keyring) }
  } catch {
    return { webhook, secrets: undefined, headers: {} }
  }
}

/** Seals headers to their webhook. */
export function sealHeaders(
  webhookId: string,
  headers: Readonly<Record<string, string>>,
  keyring: Keyring,
): SealedHeaders | null {
  const names = Object.keys(headers)
  if (names.length === 0) return null
  return { names, sealed: keyring.seal(JSON.stringify(headers), headersPlace(webhookId)) }
}

function openHeaders(
  { id, headers }: WebhookRecord,
  keyring: Keyring,
): Readonly<Record<string, string>> {
  if (headers === null) return {}
  return JSON.parse(keyring.open(headers.sealed, headersPlace(id))) as Record<string, string>
}

/** The secrets that sign at an instant, the current one first. */
export function liveSecrets(secrets: readonly OpenSecret[], now: Instant): readonly string[] {
  return secrets
    .filter(({ not_after }) => not_after === null || now < not_after)
    .map(({ value }) => value)
}

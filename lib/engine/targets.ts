import type { Instant } from '../time.ts'
import type { EncryptedHeaders, WebhookRecord } from '../webhook/record.ts'
import type { AccountCache } from './account-cache.ts'
import { createAccountCache } from './account-cache.ts'
import type { Keyring } from './keyring.ts'
import type { EngineStore } from './ports.ts'

/** A webhook with its secrets and headers decrypted. */
export interface Target {
  readonly webhook: WebhookRecord
  /** Undefined when a secret or a header cannot be decrypted: then nothing is sent. */
  readonly secrets: readonly DecryptedSecret[] | undefined
  /** Custom headers. */
  readonly headers: Readonly<Record<string, string>>
}

export interface DecryptedSecret {
  readonly value: string
  readonly not_after: Instant | null
}

/** The webhooks of an account by id, oldest first. */
export type AccountTargets = ReadonlyMap<string, Target>

export interface Targets extends Pick<AccountCache<AccountTargets>, 'peek' | 'get'> {
  /** The current webhook, without a promise when it is cached; undefined when it was deleted. */
  find(accountId: string, webhookId: string): Target | undefined | Promise<Target | undefined>
}

/** Associated data of an encrypted webhook secret. */
export function secretAad(secretId: string): string {
  return `webhook_secret|${secretId}`
}

/** Associated data of the encrypted headers of a webhook. */
export function headersAad(webhookId: string): string {
  return `webhook_headers|${webhookId}`
}

/** Caches the webhooks of each account, decrypted, until one of them changes. */
export function createTargets(
  { webhooksOf, changes }: Pick<EngineStore, 'webhooksOf' | 'changes'>,
  keyring: Keyring,
): Targets {
  const { peek, get, drop, dropAll } = createAccountCache(
    async (accountId): Promise<AccountTargets> =>
      new Map(
        (await webhooksOf(accountId)).map((webhook) => [
          webhook.id,
          decryptTarget(webhook, keyring),
        ]),
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

function decryptTarget(webhook: WebhookRecord, keyring: Keyring): Target {
  try {
    const secrets = webhook.secrets.map(({ id, encrypted, not_after }) => ({
      value: keyring.decrypt(encrypted, secretAad(id)),
      not_after,
    }))
    return { webhook, secrets, headers: decryptHeaders(webhook, keyring) }
  } catch {
    return { webhook, secrets: undefined, headers: {} }
  }
}

/** Encrypts the custom headers of a webhook; null for none. */
export function encryptHeaders(
  webhookId: string,
  headers: Readonly<Record<string, string>>,
  keyring: Keyring,
): EncryptedHeaders | null {
  const names = Object.keys(headers)
  if (names.length === 0) return null
  return { names, encrypted: keyring.encrypt(JSON.stringify(headers), headersAad(webhookId)) }
}

function decryptHeaders(
  { id, headers }: WebhookRecord,
  keyring: Keyring,
): Readonly<Record<string, string>> {
  if (headers === null) return {}
  return JSON.parse(keyring.decrypt(headers.encrypted, headersAad(id))) as Record<string, string>
}

/** The values of the secrets that sign at an instant, the current one first. */
export function liveSecrets(secrets: readonly DecryptedSecret[], now: Instant): readonly string[] {
  return secrets
    .filter(({ not_after }) => not_after === null || now < not_after)
    .map(({ value }) => value)
}

import type { Platform } from '../../daemon/platform.ts'
import { HEALTHY } from '../../lib/delivery/health.ts'
import { secretAad } from '../../lib/engine/targets.ts'
import { createdOrigin } from '../../lib/webhook/origin.ts'
import { mintSecret } from '../../lib/webhook/secret.ts'

/** A webhook of an account that hears of one type. */
export interface BenchWebhook {
  readonly account: string
  readonly type: string
  readonly url: string
}

/** Registers webhooks without the API, which an account asks for fifty at most. Answers their ids. */
export async function addWebhooks(
  { store, keyring, clock, newId, random }: Platform,
  webhooks: readonly BenchWebhook[],
): Promise<readonly string[]> {
  const now = clock.now()
  const ids: string[] = []
  await store.write(async (tx) => {
    for (const { account, type, url } of webhooks) {
      const id = newId()
      const secretId = newId()
      ids.push(id)
      await tx.webhooks.insert({
        ...HEALTHY,
        id,
        account_id: account,
        url,
        events: [type],
        description: null,
        apps: null,
        status: 'active',
        disabled_reason: null,
        disabled_at: null,
        standard_headers: false,
        trace_headers: false,
        headers: null,
        rate_limit: null,
        concurrency: null,
        last_success_at: null,
        last_delivery_at: null,
        created_by: { type: 'operator', id: null },
        created_at: now,
        updated_at: now,
        ...createdOrigin({ type: 'operator', id: null }, now),
        secrets: [
          {
            id: secretId,
            encrypted: keyring.encrypt(mintSecret(random), secretAad(secretId)),
            display: 'whsec_bench…',
            created_at: now,
            not_after: null,
          },
        ],
      })
    }
  })
  return ids
}

import { kernelError } from '../../lib/errors.ts'
import type { AppReads } from '../../plugins/platform/contract/apps.ts'

/** Which apps keys may be pinned to and webhooks may filter by: those of this service, or any id. */
export type AppIds = 'own' | 'any'

/** Knows which apps an account has. */
export interface AppDirectory {
  /** Returns the ids that are not apps of the account, archived ones included. */
  missing(
    apps: Pick<AppReads, 'owned'>,
    accountId: string,
    ids: readonly string[],
  ): Promise<readonly string[]>
}

/** `own`: the apps of this service. `any`: apps of an embedder's own backend; their ids are opaque here. */
export const APP_DIRECTORIES: Readonly<Record<AppIds, AppDirectory>> = {
  own: {
    async missing(apps, account_id, ids) {
      const owned = new Set(await apps.owned(account_id, ids))
      return ids.filter((id) => !owned.has(id))
    },
  },
  any: { missing: async () => [] },
}

/**
 * @throws KeyhookError `app_not_found` naming the apps that the account does not have
 */
export async function requireApps(
  {
    platform,
    tx,
  }: {
    readonly platform: { readonly appDirectory: AppDirectory }
    readonly tx: { readonly apps: Pick<AppReads, 'owned'> }
  },
  accountId: string,
  ids: readonly string[] | null | undefined,
): Promise<void> {
  const missing = await platform.appDirectory.missing(tx.apps, accountId, ids ?? [])
  if (missing.length > 0) throw kernelError('app_not_found', { details: { apps: missing } })
}

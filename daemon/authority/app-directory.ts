import { kernelError } from '../../lib/errors.ts'
import type { AppReads } from '../../plugins/platform/contract/apps.ts'

/** Whose the apps are that keys are pinned to and webhooks hear of. */
export type AppIds = 'own' | 'any'

/** Knows which apps an account has. */
export interface AppDirectory {
  /** Those of the ids that are no app of the account, archived or not. */
  missing(
    apps: Pick<AppReads, 'owned'>,
    accountId: string,
    ids: readonly string[],
  ): Promise<readonly string[]>
}

/** The apps of this service, and those of a backend beside it, whose ids mean nothing here. */
export const APP_DIRECTORIES: Readonly<Record<AppIds, AppDirectory>> = {
  own: {
    async missing(apps, account_id, ids) {
      const owned = new Set(await apps.owned(account_id, ids))
      return ids.filter((id) => !owned.has(id))
    },
  },
  any: { missing: async () => [] },
}

/** @throws KeyhookError `app_not_found` naming those that the account does not have */
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

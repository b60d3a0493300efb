import { accountOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { audit } from '../audit/note.ts'

/** What changes of an app's settings are called in the audit log, by what they are made to. */
export type SettingsAction =
  | 'domain.created'
  | 'domain.updated'
  | 'domain.checked'
  | 'domain.deleted'
  | 'service.set'
  | 'service.deleted'
  | 'auth.updated'

/** Notes a change of an app's settings for the account's owners. */
export async function noteSetting(
  call: Change,
  app_id: string,
  action: SettingsAction,
  target_id: string,
): Promise<void> {
  const account_id = accountOf(call.principal)
  const target_type = action.slice(0, action.indexOf('.'))
  await audit(call, { account_id, action, target_type, target_id, app_id })
}

import { kernelError } from '../../../lib/errors.ts'
import { holdsApp } from '../../../lib/grant/authority.ts'
import type {
  AliasAsked,
  AppReads,
  AppRecord,
  RevisionRecord,
} from '../../../plugins/platform/contract/apps.ts'
import type { Platform } from '../../platform.ts'
import type { Principal } from '../../authority/principal.ts'
import { accountOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { audit } from '../audit/note.ts'
import { appError } from './errors.ts'
import { isReservedAlias } from './reserved-names.ts'

/** Maximum apps of an account, archived ones excluded. */
export const MAX_APPS = 200

/** Maximum apps of an account, archived ones included: their files are kept until deletion. */
export const MAX_KEPT_APPS = 2 * MAX_APPS

const MANY_APPS = `The account has ${MAX_APPS} apps, as many as it may. Archive one first.`
const MANY_ARCHIVED = `The account has ${MAX_KEPT_APPS} apps with the archived ones, as many as it may. Restore an archived app and use it, or wait: an archived app is deleted after 30 days.`

/** Finds an app that the principal may read, archived or not. */
export async function findApp(
  apps: Pick<AppReads, 'get'>,
  principal: Principal,
  id: string,
): Promise<AppRecord> {
  const visible = holdsApp(principal.authority.pins, id)
  const app = visible ? await apps.get(accountOf(principal), id) : undefined
  if (app === undefined) throw kernelError('app_not_found')
  return app
}

/** Finds an app that the principal may read and change. */
export async function findLiveApp(
  apps: Pick<AppReads, 'get'>,
  principal: Principal,
  id: string,
): Promise<AppRecord> {
  const app = await findApp(apps, principal, id)
  if (app.archived_at !== null) throw appError('app_archived')
  return app
}

/** Finds a revision of an app: the requested or the current one. */
export async function findRevision(
  apps: Pick<AppReads, 'revision'>,
  app: AppRecord,
  number: number | undefined,
): Promise<RevisionRecord> {
  const wanted = number ?? app.revision
  if (wanted === null) throw appError('app_not_ready')
  const revision = await apps.revision(app.id, wanted)
  if (revision === undefined) throw appError('revision_not_found')
  return revision
}

/**
 * Refuses an app beyond the account's quota, read in this unit of work.
 *
 * @param more whether the app is new, or archived already
 * @throws KeyhookError `app_limit_reached`
 */
export async function requireAppQuota(
  apps: Pick<AppReads, 'count'>,
  accountId: string,
  more: 'new' | 'archived' = 'new',
): Promise<void> {
  const { live, archived } = await apps.count(accountId)
  const details = { live, archived }
  if (live >= MAX_APPS) throw appError('app_limit_reached', { message: MANY_APPS, details })
  if (more === 'new' && live + archived >= MAX_KEPT_APPS) {
    throw appError('app_limit_reached', { message: MANY_ARCHIVED, details })
  }
}

/**
 * Refuses an alias that is reserved, in use, or was recently in use by another account, read in this unit
 * of work. An app keeps an alias that was reserved later: only new ones are checked.
 *
 * @throws KeyhookError `alias_reserved`, `alias_taken`
 */
export async function requireFreeAlias(
  { catalogue }: Pick<Platform, 'catalogue'>,
  apps: Pick<AppReads, 'isAliasFree'>,
  alias: string,
  request: AliasAsked,
): Promise<void> {
  if (isReservedAlias(alias, catalogue.service)) {
    const code = 'alias_reserved'
    const message = appError.rows[code].text
    throw appError(code, { errors: [{ location: 'body.alias', code, message }] })
  }
  if (!(await apps.isAliasFree(alias, request))) throw appError('alias_taken')
}

/** Records a change of an app in the audit log. */
export async function noteChange(
  call: Change,
  app_id: string,
  action: 'app.created' | 'app.updated' | 'app.archived' | 'app.restored',
): Promise<void> {
  const account_id = accountOf(call.principal)
  await audit(call, { account_id, action, target_type: 'app', target_id: app_id, app_id })
}

import { kernelError } from '../../../lib/errors.ts'
import { holdsApp } from '../../../lib/grant/authority.ts'
import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type {
  AliasAsked,
  AppReads,
  AppRecord,
  RevisionRecord,
} from '../../../plugins/platform/contract/apps.ts'
import { httpError } from '../../operations/errors.ts'
import type { Call } from '../../operations/family.ts'
import type { Platform } from '../../platform.ts'
import type { Principal } from '../../authority/principal.ts'
import { accountOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { audit } from '../audit/note.ts'
import { appError } from './errors.ts'
import { isReservedAlias } from './reserved-names.ts'
import type { Tree } from './tree.ts'
import { printTree, readTree } from './tree.ts'

/** Apps that one account may have, archived ones not counted. */
export const MAX_APPS = 200

/** Apps that one account may have with the archived ones, whose files are kept until they are deleted. */
export const MAX_KEPT_APPS = 2 * MAX_APPS

const MANY_APPS = `The account has ${MAX_APPS} apps, as many as it may. Archive one first.`
const MANY_ARCHIVED = `The account has ${MAX_KEPT_APPS} apps with the archived ones, as many as it may. Restore an archived app and use it, or wait: an archived app is deleted after 30 days.`

/** Where the bytes of apps are kept. @throws KeyhookError `capability_unavailable` where nothing keeps them */
export function bytesOf({ appBytes }: Pick<Platform, 'appBytes'>): AppBytes {
  if (appBytes === undefined) throw httpError('capability_unavailable')
  return appBytes
}

/** An app that the principal may see, archived or not. */
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

/** An app that the principal may see and change. */
export async function findLiveApp(
  apps: Pick<AppReads, 'get'>,
  principal: Principal,
  id: string,
): Promise<AppRecord> {
  const app = await findApp(apps, principal, id)
  if (app.archived_at !== null) throw appError('app_archived')
  return app
}

/** A revision of an app: the one that is asked for, or the current one. */
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

/** The files of a revision. */
export async function loadTree(bytes: AppBytes, revision: RevisionRecord): Promise<Tree> {
  const kept = await bytes.get(revision.app_id, revision.tree)
  if (kept === undefined) throw treeIsGone(revision)
  return readTree(Buffer.from(kept).toString())
}

/** The least that a file of a tree takes where it is listed. */
const LISTED_FILE_BYTES = 100

/**
 * The files of a revision, for who only reads them: the size of their list is counted while it is read.
 *
 * @throws KeyhookError `too_many_bytes`
 */
export async function loadCountedTree(
  bytes: AppBytes,
  revision: RevisionRecord,
  reserve: Call['reserve'],
): Promise<Tree> {
  reserve(revision.files * LISTED_FILE_BYTES)
  const kept = await bytes.open(revision.app_id, revision.tree)
  if (kept === undefined) throw treeIsGone(revision)
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of kept) {
    pieces.push(piece)
    size += piece.length
    reserve(size)
  }
  return readTree(Buffer.concat(pieces).toString())
}

function treeIsGone({ number }: RevisionRecord): Error {
  return new Error(`the tree of revision ${number} is gone`)
}

/** Keeps a tree whose files are kept already; answers its digest. */
export async function keepTree(bytes: AppBytes, appId: string, tree: Tree): Promise<string> {
  const { sha256 } = await bytes.put(appId, Buffer.from(printTree(tree)))
  return sha256
}

/**
 * Refuses one more app than an account may have, as this unit of work sees it.
 *
 * @param more whether it is a new one, or one that the account has, archived
 * @throws KeyhookError `app_limit_reached`
 */
export async function requireRoom(
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
 * Refuses an alias that is reserved, that another app has, or that another account's had lately, as this
 * unit of work sees it. An app that had a reserved alias before keeps it: only new ones are judged.
 *
 * @throws KeyhookError `alias_reserved`, `alias_taken`
 */
export async function requireFreeAlias(
  { catalogue }: Pick<Platform, 'catalogue'>,
  apps: Pick<AppReads, 'isAliasFree'>,
  alias: string,
  asked: AliasAsked,
): Promise<void> {
  if (isReservedAlias(alias, catalogue.service)) {
    const code = 'alias_reserved'
    const message = appError.rows[code].text
    throw appError(code, { errors: [{ location: 'body.alias', code, message }] })
  }
  if (!(await apps.isAliasFree(alias, asked))) throw appError('alias_taken')
}

/** Notes a change of an app for the account's owners. */
export async function noteChange(
  call: Change,
  app_id: string,
  action: 'app.created' | 'app.updated' | 'app.archived' | 'app.restored',
): Promise<void> {
  const account_id = accountOf(call.principal)
  await audit(call, { account_id, action, target_type: 'app', target_id: app_id, app_id })
}

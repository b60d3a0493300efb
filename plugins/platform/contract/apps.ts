import type { Instant, Millis } from '../../../lib/time.ts'
import { DAY } from '../../../lib/time.ts'
import type { Page, SizedPageQuery } from '../../store/contract/page.ts'
import type { RecordOf } from '../model/define.ts'
import { placeOf } from '../model/pages.ts'
import type { APPS, REVISIONS } from '../models/apps.ts'

export type AppRecord = RecordOf<typeof APPS>

export type RevisionRecord = RecordOf<typeof REVISIONS>

/**
 * Newest first; `after` is what `placeOfApp` answers of the last app of the page before, `bytes` those of
 * metadata.
 */
export interface AppListQuery extends SizedPageQuery {
  readonly account_id: string
  /** Only these apps. */
  readonly ids: readonly string[] | null
  /** Without archived apps, with them, or those alone. */
  readonly archived: 'exclude' | 'include' | 'only'
  readonly status: AppRecord['status'] | null
  readonly alias: string | null
}

/** For which app an alias is asked for, and when. */
export interface AliasAsked {
  readonly account_id: string
  /** One that is to be made has an id already. */
  readonly app_id: string
  readonly now: Instant
}

export interface RevisionListQuery {
  readonly app_id: string
  readonly limit: number
  /** Only revisions before this number. */
  readonly before: number | null
}

export interface AppCount {
  /** Not archived. */
  readonly live: number
  /** Archived, and not purged yet. */
  readonly archived: number
}

export interface AppReads {
  get(accountId: string, id: string): Promise<AppRecord | undefined>
  /** @param most apps that a page looks at; default `MOST_LOOKED_AT` */
  list(query: AppListQuery, most?: number): Promise<Page<AppRecord>>
  /** Which of the ids are apps of the account, archived or not. Nothing else of them is read. */
  owned(accountId: string, ids: readonly string[]): Promise<readonly string[]>
  /** How many apps the account has. */
  count(accountId: string): Promise<AppCount>
  /** Whether an app may bear an alias: no other one does, and it is not kept for another account. */
  isAliasFree(alias: string, asked: AliasAsked): Promise<boolean>
  /** Whether there is such an app, whosever and archived or not. */
  exists(id: string): Promise<boolean>
  /** Ids of archived apps whose time to be purged has come, those that have waited longest first. */
  due(now: Instant, limit: number): Promise<readonly string[]>
  revision(appId: string, number: number): Promise<RevisionRecord | undefined>
  revisions(query: RevisionListQuery): Promise<Page<RevisionRecord>>
}

export interface AppChanges {
  readonly name?: string
  readonly alias?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

/** What hosts lead to is changed by all of it but a name, metadata and a status. */
export interface AppWrites extends AppReads {
  insert(app: AppRecord): Promise<void>
  /**
   * Changes the named columns alone. False when there is no such app, or it is archived.
   *
   * Whoever gives an alias looks first whether it is free: of two units that run one after another the
   * second sees it taken. What the app bore until then is kept for its account, for `ALIAS_KEPT`.
   */
  update(id: string, changes: AppChanges, now: Instant): Promise<boolean>
  /** Ends its creation. False, changing nothing, when it does not stand in `from`, or is archived. */
  move(
    id: string,
    from: AppRecord['status'],
    to: AppRecord['status'],
    now: Instant,
  ): Promise<boolean>
  /**
   * Makes a revision the current one. False, changing nothing, when `base` is not the current one any
   * more, or the app is archived: of two callers with the same base one wins.
   */
  advance(revision: RevisionRecord, base: number | null): Promise<boolean>
  /**
   * Also asks whoever carries out a deployment of it to stop, however far that is, and keeps its alias
   * for its account until `ALIAS_KEPT` after it can be purged. False, changing nothing, when it was
   * archived before.
   */
  archive(id: string, now: Instant, purgeAt: Instant): Promise<boolean>
  /** Without its alias where another app took it meanwhile. False when it is not archived. */
  restore(id: string, now: Instant): Promise<boolean>
  /**
   * Deletes it with its revisions, edits, deployments and knowledge-base files; its alias is kept for its
   * account, for `ALIAS_KEPT`. False, changing nothing, when its time has not come.
   */
  purge(id: string, now: Instant): Promise<boolean>
}

/** How long an alias that was given up is its account's alone: links and visitors' browsers remember it. */
export const ALIAS_KEPT: Millis = 30 * DAY

/** How many are kept for one account, those that are kept longest: nobody takes names by changing them. */
export const MOST_ALIASES_KEPT = 200

/** Where an app stands in a list. */
export const placeOfApp = ({ created_at, id }: Pick<AppRecord, 'created_at' | 'id'>): string =>
  placeOf(created_at, id)

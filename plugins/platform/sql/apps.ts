import type { Instant } from '../../../lib/time.ts'
import type { AppReads, AppRecord, AppSource, AppWrites, RevisionRecord } from '../contract/apps.ts'
import { ALIAS_KEPT, MOST_ALIASES_KEPT, placeOfApp, readPlaceOfApp } from '../contract/apps.ts'
import type { ChangeSink } from '../../store/contract/changes.ts'
import { MOST_LOOKED_AT, leadOn } from '../../store/contract/page.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { purgeDeployments, stopDeployments } from './deployments-of-app.ts'
import { purgeDomains } from './domains.ts'
import { purgeEdits } from './edits.ts'
import { purgeFiles } from './files.ts'
import { purgeObservations } from './observations.ts'
import type { IndexedRows } from '../../store/sql/looked-at.ts'
import { lastLookedAt } from '../../store/sql/looked-at.ts'
import type { Row } from '../../store/sql/rows.ts'
import { readSizedPage } from '../../store/sql/sized-page.ts'
import {
  BEFORE_ALL,
  BEHIND_ALL,
  assignments,
  cutPage,
  integer,
  integerOrNull,
  textOrNull,
  toCreator,
} from '../../store/sql/rows.ts'
import { purgeServices } from './services.ts'
import { purgeSignIn } from './sign-in.ts'
import type { PlatformTables } from './tables.ts'

/** Where a list of apps begins. */
const NEWEST = { at: Number.MAX_SAFE_INTEGER, id: BEHIND_ALL }

export function appReads(query: Query, t: PlatformTables, dialect: Dialect): AppReads {
  return {
    async get(accountId, id) {
      const [row] = await query(`SELECT * FROM ${t.apps} WHERE id = $1 AND account_id = $2`, [
        id,
        accountId,
      ])
      return row && toApp(row)
    },
    async list(asked, most = MOST_LOOKED_AT) {
      const { account_id, ids, archived, status, alias, limit, after, bytes } = asked
      const place = after === null ? NEWEST : readPlaceOfApp(after)
      const indexed: IndexedRows = {
        table: t.apps,
        key: ['created_at', 'id'],
        order: 'desc',
        where: 'account_id = $1 AND (created_at, id) < (CAST($2 AS BIGINT), $3)',
        bind: [account_id, place.at, place.id],
      }
      const end = await lastLookedAt(query, indexed, most)
      const last = end && { created_at: integer(end['created_at']), id: String(end['id']) }
      const { rows, more } = await readSizedPage(query, {
        ...indexed,
        size: 'octet_length(metadata)',
        where: `${indexed.where} AND (created_at, id) >= (CAST($4 AS BIGINT), $5)
          AND (CAST($6 AS TEXT) IS NULL OR ${dialect.among('id', '$6')})
          AND (CAST($7 AS INTEGER) IS NULL OR (archived_at IS NOT NULL) = ($7 = 1))
          AND (CAST($8 AS TEXT) IS NULL OR status = $8)
          AND (CAST($9 AS TEXT) IS NULL OR alias = $9)`,
        bind: [
          ...indexed.bind,
          last?.created_at ?? 0,
          last?.id ?? BEFORE_ALL,
          ids && JSON.stringify(ids),
          archived === 'include' ? null : Number(archived === 'only'),
          status,
          alias,
        ],
        limit,
        bytes,
      })
      return leadOn({ rows: rows.map(toApp), more }, last && placeOfApp(last))
    },
    async owned(accountId, ids) {
      const rows = await query<{ id: string }>(
        `SELECT id FROM ${t.apps} WHERE account_id = $1 AND ${dialect.among('id', '$2')}`,
        [accountId, JSON.stringify(ids)],
      )
      return rows.map(({ id }) => id)
    },
    async count(accountId) {
      const [row] = await query(
        `SELECT count(*) AS total, count(archived_at) AS archived
         FROM ${t.apps} WHERE account_id = $1`,
        [accountId],
      )
      const archived = integer(row?.['archived'])
      return { live: integer(row?.['total']) - archived, archived }
    },
    async isAliasFree(alias, { account_id, app_id, now }) {
      const rows = await query(
        `SELECT 1 FROM ${t.apps} WHERE alias = $1 AND archived_at IS NULL AND id <> $3
         UNION ALL SELECT 1 FROM ${t.left_aliases}
           WHERE alias = $1 AND account_id <> $2 AND kept_until > $4
         LIMIT 1`,
        [alias, account_id, app_id, now],
      )
      return rows.length === 0
    },
    async exists(id) {
      const rows = await query(`SELECT 1 FROM ${t.apps} WHERE id = $1`, [id])
      return rows.length > 0
    },
    async due(now, limit) {
      const rows = await query<{ id: string }>(
        `SELECT id FROM ${t.apps} WHERE purge_at <= $1 ORDER BY purge_at, id LIMIT $2`,
        [now, limit],
      )
      return rows.map(({ id }) => id)
    },
    async revision(appId, number) {
      const [row] = await query(`SELECT * FROM ${t.revisions} WHERE app_id = $1 AND number = $2`, [
        appId,
        number,
      ])
      return row && toRevision(row)
    },
    async revisions({ app_id, limit, before }) {
      const rows = await query(
        `SELECT * FROM ${t.revisions}
         WHERE app_id = $1 AND (CAST($2 AS BIGINT) IS NULL OR number < $2)
         ORDER BY number DESC LIMIT $3`,
        [app_id, before, limit + 1],
      )
      return cutPage(rows.map(toRevision), limit)
    },
  }
}

export function appWrites(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  changes: ChangeSink,
): AppWrites {
  /** Whether a statement with RETURNING changed a row. */
  const changed = async (sql: string, bind: readonly unknown[]): Promise<boolean> =>
    (await query(sql, bind)).length > 0
  /** The same, for what changes where hosts lead. */
  const moved = async (id: string, sql: string, bind: readonly unknown[]): Promise<boolean> => {
    const isChanged = await changed(sql, bind)
    if (isChanged) changes.push({ kind: 'site', id })
    return isChanged
  }

  /** Keeps the alias of such an app, which it has no more from then on, for its account. */
  async function keepAlias(
    where: string,
    { id, from, next = '' }: { id: string; from: Instant; next?: string | null },
  ): Promise<void> {
    const [kept] = await query<{ account_id: string }>(
      `INSERT INTO ${t.left_aliases} (alias, account_id, kept_until)
       SELECT alias, account_id, CAST($2 AS BIGINT) + ${ALIAS_KEPT} FROM ${t.apps}
       WHERE id = $1 AND ${where} AND alias IS NOT NULL AND alias <> $3
       ON CONFLICT (alias) DO UPDATE SET
         account_id = excluded.account_id, kept_until = excluded.kept_until
       RETURNING account_id`,
      [id, from, next ?? ''],
    )
    if (kept === undefined) return
    await query(
      `DELETE FROM ${t.left_aliases} WHERE account_id = $1 AND kept_until < (
         SELECT kept_until FROM ${t.left_aliases} WHERE account_id = $1
         ORDER BY kept_until DESC LIMIT 1 OFFSET ${MOST_ALIASES_KEPT - 1})`,
      [kept.account_id],
    )
  }

  return {
    ...appReads(query, t, dialect),
    async insert(app) {
      await query(
        `INSERT INTO ${t.apps} (id, account_id, name, alias, status, source_kind, template_id,
           cloned_from, revision, metadata, created_by_type, created_by_id, created_at, updated_at,
           archived_at, purge_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
        [
          app.id,
          app.account_id,
          app.name,
          app.alias,
          app.status,
          app.source.kind,
          app.source.template_id,
          app.source.cloned_from,
          app.revision,
          JSON.stringify(app.metadata),
          app.created_by.type,
          app.created_by.id,
          app.created_at,
          app.updated_at,
          app.archived_at,
          app.purge_at,
        ],
      )
      changes.push({ kind: 'site', id: app.id })
    },
    async update(id, { metadata, ...named }, now) {
      const columns = {
        ...named,
        ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
        updated_at: now,
      }
      const set = assignments(columns, 2)
      const sql = `UPDATE ${t.apps} SET ${set.sql} WHERE id = $1 AND archived_at IS NULL RETURNING id`
      const bind = [id, ...set.bind]
      if (named.alias === undefined) return changed(sql, bind)
      await keepAlias('archived_at IS NULL', { id, from: now, next: named.alias })
      return moved(id, sql, bind)
    },
    move: (id, from, to, now) =>
      changed(
        `UPDATE ${t.apps} SET status = $3, updated_at = $4
         WHERE id = $1 AND status = $2 AND archived_at IS NULL RETURNING id`,
        [id, from, to, now],
      ),
    async advance(revision, base) {
      const isAdvanced = await moved(
        revision.app_id,
        `UPDATE ${t.apps} SET revision = $2, updated_at = $3
         WHERE id = $1 AND archived_at IS NULL
           AND COALESCE(revision, 0) = CAST($4 AS BIGINT) RETURNING id`,
        [revision.app_id, revision.number, revision.created_at, base ?? 0],
      )
      if (isAdvanced) await insertRevision(query, t, revision)
      return isAdvanced
    },
    async archive(id, now, purgeAt) {
      const isArchived = await moved(
        id,
        `UPDATE ${t.apps} SET archived_at = $2, purge_at = $3, updated_at = $2
         WHERE id = $1 AND archived_at IS NULL RETURNING id`,
        [id, now, purgeAt],
      )
      if (!isArchived) return false
      await keepAlias('archived_at IS NOT NULL', { id, from: purgeAt })
      await stopDeployments(query, t, id, now)
      return true
    },
    restore: (id, now) =>
      moved(
        id,
        `UPDATE ${t.apps} SET archived_at = NULL, purge_at = NULL, updated_at = $2,
           alias = CASE WHEN EXISTS (SELECT 1 FROM ${t.apps} other
             WHERE other.alias = ${t.apps}.alias AND other.archived_at IS NULL) THEN NULL
             ELSE alias END
         WHERE id = $1 AND archived_at IS NOT NULL RETURNING id`,
        [id, now],
      ),
    async purge(id, now) {
      await keepAlias('purge_at <= $2', { id, from: now })
      const gone = await moved(
        id,
        `DELETE FROM ${t.apps} WHERE id = $1 AND purge_at <= $2 RETURNING id`,
        [id, now],
      )
      if (!gone) return false
      await query(`DELETE FROM ${t.revisions} WHERE app_id = $1`, [id])
      await purgeEdits(query, t, dialect, id)
      await purgeFiles(query, t, id)
      await purgeDeployments(query, t, dialect, id)
      await purgeDomains(query, t, id)
      await purgeServices(query, t, id)
      await purgeSignIn(query, t, id)
      await purgeObservations(query, t, id)
      return true
    },
  }
}

async function insertRevision(
  query: Query,
  t: PlatformTables,
  revision: RevisionRecord,
): Promise<void> {
  const { app_id, number, tree, files, bytes, message, edit_id, created_by, created_at } = revision
  await query(
    `INSERT INTO ${t.revisions} (app_id, number, tree, files, bytes, message, edit_id,
       created_by_type, created_by_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      app_id,
      number,
      tree,
      files,
      bytes,
      message,
      edit_id,
      created_by.type,
      created_by.id,
      created_at,
    ],
  )
}

function toApp(row: Row): AppRecord {
  return {
    id: String(row['id']),
    account_id: String(row['account_id']),
    name: String(row['name']),
    alias: textOrNull(row['alias']),
    status: row['status'] as AppRecord['status'],
    source: {
      kind: row['source_kind'] as AppSource['kind'],
      template_id: textOrNull(row['template_id']),
      cloned_from: textOrNull(row['cloned_from']),
    },
    revision: integerOrNull(row['revision']),
    metadata: JSON.parse(String(row['metadata'])) as Record<string, string>,
    created_by: toCreator(row),
    created_at: integer(row['created_at']),
    updated_at: integer(row['updated_at']),
    archived_at: integerOrNull(row['archived_at']),
    purge_at: integerOrNull(row['purge_at']),
  }
}

function toRevision(row: Row): RevisionRecord {
  return {
    app_id: String(row['app_id']),
    number: integer(row['number']),
    tree: String(row['tree']),
    files: integer(row['files']),
    bytes: integer(row['bytes']),
    message: textOrNull(row['message']),
    edit_id: textOrNull(row['edit_id']),
    created_by: toCreator(row),
    created_at: integer(row['created_at']),
  }
}

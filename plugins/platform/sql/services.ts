import type {
  ListedService,
  ServiceReads,
  ServiceRecord,
  ServiceWrites,
} from '../contract/services.ts'
import { secretIdOf } from '../contract/services.ts'
import type { Row } from '../../store/sql/rows.ts'
import { readPage } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import { SERVICES, SERVICE_SECRETS } from '../models/services.ts'
import type { ReadScope, WriteScope } from './scope.ts'

export function serviceReads({ query, t, dialect }: ReadScope): ServiceReads {
  // A join would repeat the configuration, which may be large, for each secret.
  const gathered = (columns: readonly string[]): string =>
    `(SELECT ${dialect.gather(columns)} FROM ${t.service_secrets} s
      WHERE s.app_id = kept.app_id AND s.service = kept.name) AS secrets`

  return {
    async get(appId, name) {
      const [row] = await query(
        `SELECT kept.*, ${gathered(['s.name', 's.sealed'])} FROM ${t.services} kept
         WHERE kept.app_id = $1 AND kept.name = $2`,
        [appId, name],
      )
      return row && toService(row, toSealed)
    },
    async list({ app_id, ...listed }) {
      const { rows, ...more } = await readPage(query, t, SERVICES, {
        of: { app_id },
        key: ['name'],
        order: 'asc',
        also: gathered(['s.name']),
        wide: ['config'],
        ...listed,
      })
      return { ...more, rows: rows.map((row) => toService(row, ([name]) => ({ name }))) }
    },
    count: (app_id) => recordsOf(query, t, SERVICES).count({ app_id }),
  }
}

export function serviceWrites({ query, t, dialect, rows }: WriteScope): ServiceWrites {
  return {
    ...serviceReads({ query, t, dialect }),
    async put({ app_id, name, kind, config }, secrets, now) {
      await query(
        `INSERT INTO ${t.services} (app_id, name, kind, config, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $5)
         ON CONFLICT (app_id, name) DO UPDATE SET kind = excluded.kind, config = excluded.config,
           updated_at = excluded.updated_at`,
        [app_id, name, kind, JSON.stringify(config), now],
      )
      const named = [...secrets].map(([secret, sealed]) => ({
        id: secretIdOf(app_id, name, secret),
        secret,
        sealed,
      }))
      await query(`DELETE FROM ${t.service_secrets} WHERE ${dialect.among('id', '$1')}`, [
        JSON.stringify(named.map(({ id }) => id)),
      ])
      for (const { id, secret, sealed } of named) {
        if (sealed === null) continue
        await rows.insert(SERVICE_SECRETS, { id, app_id, service: name, name: secret, sealed })
      }
    },
    async remove(appId, name) {
      const removed = await query(
        `DELETE FROM ${t.services} WHERE app_id = $1 AND name = $2 RETURNING name`,
        [appId, name],
      )
      await query(`DELETE FROM ${t.service_secrets} WHERE app_id = $1 AND service = $2`, [
        appId,
        name,
      ])
      return removed.length > 0
    },
  }
}

type GatheredSecret = readonly [name: string, sealed: string]

function toService<Secret extends { readonly name: string }>(
  row: Row,
  toSecret: (gathered: GatheredSecret) => Secret,
): ListedService & { readonly secrets: readonly Secret[] } {
  const secrets = (JSON.parse(String(row['secrets'])) as readonly GatheredSecret[])
    .map(toSecret)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return { ...SERVICES.toRecord(row), secrets }
}

function toSealed([name, sealed]: GatheredSecret): ServiceRecord['secrets'][number] {
  return { name, sealed }
}

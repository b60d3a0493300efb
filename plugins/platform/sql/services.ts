import type {
  ListedService,
  ServiceReads,
  ServiceRecord,
  ServiceWrites,
} from '../contract/services.ts'
import { secretIdOf } from '../contract/services.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import type { Row } from '../../store/sql/rows.ts'
import { cutPage, integer } from '../../store/sql/rows.ts'
import type { ModelRows } from '../model/sequelize.ts'
import { SERVICES, SERVICE_SECRETS } from '../models/services.ts'
import type { PlatformTables } from './tables.ts'

export function serviceReads(query: Query, t: PlatformTables): ServiceReads {
  /**
   * @param which the services, as a FROM clause names them
   * @param toSecret what is told of a secret, whose columns are those of `s`
   */
  async function select<Secret extends { readonly name: string }>(
    which: string,
    bind: readonly unknown[],
    columns: string,
    toSecret: (row: Row) => Secret,
  ): Promise<(ListedService & { readonly secrets: readonly Secret[] })[]> {
    const rows = await query(
      `SELECT v.*, ${columns} FROM ${which} v
         LEFT JOIN ${t.service_secrets} s ON s.app_id = v.app_id AND s.service = v.name
       ORDER BY v.name, s.name`,
      bind,
    )
    const services = new Map<string, ListedService & { readonly secrets: readonly Secret[] }>()
    for (const row of rows) {
      const known = services.get(String(row['name'])) ?? { ...SERVICES.toRecord(row), secrets: [] }
      // None, when a service has none.
      const secrets = row['secret_name'] === null ? [] : [toSecret(row)]
      services.set(known.name, { ...known, secrets: [...known.secrets, ...secrets] })
    }
    return [...services.values()]
  }

  return {
    async get(appId, name) {
      const [service] = await select(
        `(SELECT * FROM ${t.services} WHERE app_id = $1 AND name = $2)`,
        [appId, name],
        's.name AS secret_name, s.sealed',
        toSealed,
      )
      return service
    },
    async list({ app_id, limit, after }) {
      const services = await select(
        `(SELECT * FROM ${t.services}
          WHERE app_id = $1 AND (CAST($2 AS TEXT) IS NULL OR name > $2)
          ORDER BY name LIMIT $3)`,
        [app_id, after, limit + 1],
        's.name AS secret_name',
        toName,
      )
      return cutPage(services, limit)
    },
    async count(appId) {
      const [row] = await query(`SELECT count(*) AS count FROM ${t.services} WHERE app_id = $1`, [
        appId,
      ])
      return integer(row?.['count'])
    },
  }
}

export function serviceWrites(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  rows: ModelRows,
): ServiceWrites {
  return {
    ...serviceReads(query, t),
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

/** Deletes every service of an app, with its secrets. */
export async function purgeServices(query: Query, t: PlatformTables, appId: string): Promise<void> {
  await query(`DELETE FROM ${t.services} WHERE app_id = $1`, [appId])
  await query(`DELETE FROM ${t.service_secrets} WHERE app_id = $1`, [appId])
}

function toName(row: Row): { readonly name: string } {
  return { name: String(row['secret_name']) }
}

function toSealed(row: Row): ServiceRecord['secrets'][number] {
  return { ...toName(row), sealed: String(row['sealed']) }
}

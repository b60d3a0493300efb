import type { Query } from '../../store/sql/client.ts'
import type { PriceVersion } from '../contract/ledger.ts'
import { recordsOf } from '../model/records.ts'
import { PRICE_VERSIONS } from '../models/ledger.ts'
import type { PlatformTables } from '../sql/tables.ts'

export async function keepPriceVersion(
  query: Query,
  t: PlatformTables,
  { version, sha256, body, first_seen }: PriceVersion,
): Promise<boolean> {
  const [kept] = await query(
    `INSERT INTO ${t.price_versions} (version, sha256, body, first_seen) VALUES ($1, $2, $3, $4)
     ON CONFLICT (version) DO UPDATE SET first_seen = ${t.price_versions}.first_seen
     RETURNING sha256`,
    [version, sha256, body, first_seen],
  )
  return kept?.['sha256'] === sha256
}

export function readPriceVersions(
  query: Query,
  t: PlatformTables,
): Promise<readonly PriceVersion[]> {
  return recordsOf(query, t, PRICE_VERSIONS).select('TRUE ORDER BY first_seen, version', [])
}

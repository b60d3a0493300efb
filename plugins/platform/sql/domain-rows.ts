import type { DomainRecord, DomainStanding } from '../contract/domains.ts'
import type { Row } from '../../store/sql/rows.ts'
import { integer, integerOrNull, textOrNull, toCreator } from '../../store/sql/rows.ts'

/** What looks change, by column. */
const STANDING = [
  'status',
  'owned',
  'routed',
  'error',
  'failures',
  'waiting_since',
  'checked_at',
  'verified_at',
  'next_check_at',
] as const satisfies readonly (keyof DomainStanding)[]

/** What a record of a domain says, by column. */
export const COLUMNS = [
  'id',
  'app_id',
  'account_id',
  'hostname',
  'token',
  'is_primary',
  'created_by_type',
  'created_by_id',
  'created_at',
  ...STANDING,
] as const

export function toStanding(
  standing: DomainStanding,
): Readonly<Record<(typeof STANDING)[number], unknown>> {
  const { status, error, failures, waiting_since, checked_at, verified_at, next_check_at } =
    standing
  const [owned, routed] = [standing.owned ? 1 : 0, standing.routed ? 1 : 0]
  const instants = { waiting_since, checked_at, verified_at, next_check_at }
  return { status, owned, routed, error, failures, ...instants }
}

export function toValues(
  domain: DomainRecord,
): Readonly<Record<(typeof COLUMNS)[number], unknown>> {
  return {
    id: domain.id,
    app_id: domain.app_id,
    account_id: domain.account_id,
    hostname: domain.hostname,
    token: domain.token,
    is_primary: domain.primary ? 1 : 0,
    created_by_type: domain.created_by.type,
    created_by_id: domain.created_by.id,
    created_at: domain.created_at,
    ...toStanding(domain),
  }
}

export function toDomain(row: Row): DomainRecord {
  return {
    id: String(row['id']),
    app_id: String(row['app_id']),
    account_id: String(row['account_id']),
    hostname: String(row['hostname']),
    token: String(row['token']),
    primary: integer(row['is_primary']) === 1,
    created_by: toCreator(row),
    created_at: integer(row['created_at']),
    status: row['status'] as DomainRecord['status'],
    owned: integer(row['owned']) === 1,
    routed: integer(row['routed']) === 1,
    error: textOrNull(row['error']),
    failures: integer(row['failures']),
    waiting_since: integer(row['waiting_since']),
    checked_at: integerOrNull(row['checked_at']),
    verified_at: integerOrNull(row['verified_at']),
    next_check_at: integerOrNull(row['next_check_at']),
  }
}

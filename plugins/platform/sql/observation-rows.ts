import type {
  CheckRecord,
  PlacedLine,
  ProblemRecord,
  ProblemSample,
  ToldProblem,
  UsageRecord,
} from '../contract/observations.ts'
import type { Row } from '../../store/sql/rows.ts'
import { integer, integerOrNull, textOrNull } from '../../store/sql/rows.ts'

export function toLine(row: Row): PlacedLine {
  return {
    id: String(row['id']),
    app_id: String(row['app_id']),
    kind: row['kind'] as PlacedLine['kind'],
    deployment_id: textOrNull(row['deployment_id']),
    request_id: String(row['request_id']),
    at: integer(row['at']),
    method: String(row['method']),
    path: String(row['path']),
    status: integer(row['status']),
    bytes: integer(row['bytes']),
    took_ms: integer(row['took_ms']),
    position: integer(row['position']),
  }
}

export function toUsage(row: Row): UsageRecord {
  return {
    day: String(row['day']),
    kind: row['kind'] as UsageRecord['kind'],
    meter: row['meter'] as UsageRecord['meter'],
    total: integer(row['total']),
    as_of: integer(row['as_of']),
  }
}

export function toProblem(row: Row): ProblemRecord {
  return {
    id: String(row['id']),
    app_id: String(row['app_id']),
    kind: row['kind'] as ProblemRecord['kind'],
    fingerprint: String(row['fingerprint']),
    type: String(row['type']),
    title: String(row['title']),
    culprit: String(row['culprit']),
    status: row['status'] as ProblemRecord['status'],
    count: integer(row['count']),
    first_seen: integer(row['first_seen']),
    last_seen: integer(row['last_seen']),
    deployment_id: textOrNull(row['deployment_id']),
    edit_id: textOrNull(row['edit_id']),
    sample: JSON.parse(String(row['sample'])) as ProblemSample,
    resolved_at: integerOrNull(row['resolved_at']),
    reopened_at: integerOrNull(row['reopened_at']),
  }
}

export function toCheck(row: Row): CheckRecord {
  return {
    app_id: String(row['app_id']),
    at: integer(row['at']),
    status: row['status'] as CheckRecord['status'],
    latency_ms: integerOrNull(row['latency_ms']),
    message: textOrNull(row['message']),
  }
}

/** What is told of a problem, each by its type, in the order of `toToldValues`. */
export const TOLD = {
  id: 'TEXT',
  app_id: 'TEXT',
  kind: 'TEXT',
  fingerprint: 'TEXT',
  type: 'TEXT',
  title: 'TEXT',
  culprit: 'TEXT',
  count: 'BIGINT',
  first_seen: 'BIGINT',
  last_seen: 'BIGINT',
  deployment_id: 'TEXT',
  edit_id: 'TEXT',
  sample: 'TEXT',
  reporter: 'BIGINT',
} as const

export function toToldValues(told: ToldProblem): readonly unknown[] {
  return [
    told.id,
    told.app_id,
    told.kind,
    told.fingerprint,
    told.type,
    told.title,
    told.culprit,
    told.count,
    told.first_seen,
    told.last_seen,
    told.deployment_id,
    told.edit_id,
    JSON.stringify(told.sample),
    told.reporter,
  ]
}

/** What of a line is added, each by its type, in the order of `toLineValues`. */
export const LINE = {
  id: 'TEXT',
  app_id: 'TEXT',
  kind: 'TEXT',
  deployment_id: 'TEXT',
  request_id: 'TEXT',
  at: 'BIGINT',
  method: 'TEXT',
  path: 'TEXT',
  status: 'SMALLINT',
  bytes: 'BIGINT',
  took_ms: 'BIGINT',
} as const

/** The columns of a JSON array of arrays, cast to what they are. */
export function castEach(columns: Readonly<Record<string, string>>, alias: string): string {
  return Object.entries(columns)
    .map(([name, type], index) => {
      const value = `${alias}.value ->> ${index}`
      return `${type === 'TEXT' ? value : `CAST(${value} AS ${type})`} AS ${name}`
    })
    .join(', ')
}

import type { DeploymentFailure, DeploymentRecord, NewDeployment } from '../contract/deployments.ts'
import type { Row } from '../../store/sql/rows.ts'
import { integer, integerOrNull, jsonOrNull, textOrNull, toCreator } from '../../store/sql/rows.ts'

/** What a record of a deployment says, by column; its release is given in the statement. */
export const COLUMNS = [
  'id',
  'app_id',
  'account_id',
  'kind',
  'status',
  'revision',
  'edit_id',
  'artifact',
  'previous_deployment_id',
  'restored_from',
  'message',
  'reason',
  'error',
  'created_by_type',
  'created_by_id',
  'created_at',
  'started_at',
  'live_at',
  'ended_at',
  'announced',
  'retire_earlier',
] as const

export function toValues(
  deployment: NewDeployment,
): Readonly<Record<(typeof COLUMNS)[number], unknown>> {
  return {
    ...deployment,
    error: deployment.error && JSON.stringify(deployment.error),
    announced: deployment.announced ? 1 : 0,
    retire_earlier: deployment.retire_earlier ? 1 : 0,
    created_by_type: deployment.created_by.type,
    created_by_id: deployment.created_by.id,
  }
}

export function toDeployment(row: Row): DeploymentRecord {
  return {
    id: String(row['id']),
    app_id: String(row['app_id']),
    account_id: String(row['account_id']),
    release: integer(row['release']),
    kind: row['kind'] as DeploymentRecord['kind'],
    status: row['status'] as DeploymentRecord['status'],
    revision: integerOrNull(row['revision']),
    edit_id: textOrNull(row['edit_id']),
    artifact: textOrNull(row['artifact']),
    previous_deployment_id: textOrNull(row['previous_deployment_id']),
    restored_from: textOrNull(row['restored_from']),
    message: textOrNull(row['message']),
    reason: row['reason'] as DeploymentRecord['reason'],
    error: jsonOrNull<DeploymentFailure>(row['error']),
    step: textOrNull(row['stage']),
    done: integer(row['done'] ?? 0),
    total: integerOrNull(row['total']),
    created_by: toCreator(row),
    created_at: integer(row['created_at']),
    started_at: integerOrNull(row['started_at']),
    live_at: integerOrNull(row['live_at']),
    ended_at: integerOrNull(row['ended_at']),
    cancel_at: integerOrNull(row['cancel_at']),
    announced: integer(row['announced']) === 1,
    retire_earlier: integer(row['retire_earlier']) === 1,
  }
}

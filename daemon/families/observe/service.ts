import type { AppReads } from '../../../plugins/platform/contract/apps.ts'
import type { ErrorGroupRecord } from '../../../plugins/platform/contract/error-groups.ts'
import type { ObservationReads } from '../../../plugins/platform/contract/observations.ts'
import type { Call } from '../../operations/call.ts'
import { findApp } from '../apps/service.ts'
import { observeError } from './errors.ts'

type ErrorGroupCall = Pick<Call, 'principal'> & {
  readonly params: { readonly app_id: string; readonly error_id: string }
}

/** Finds an error group of an app that the caller may read. */
export async function findErrorGroup(
  {
    apps,
    observations,
  }: {
    readonly apps: Pick<AppReads, 'get'>
    readonly observations: Pick<ObservationReads, 'errorGroup'>
  },
  { principal, params }: ErrorGroupCall,
): Promise<ErrorGroupRecord> {
  const app = await findApp(apps, principal, params.app_id)
  const group = await observations.errorGroup(app.id, params.error_id)
  if (group === undefined) throw observeError('error_not_found')
  return group
}

import type { AppReads } from '../../../plugins/platform/contract/apps.ts'
import type {
  ObservationReads,
  ProblemRecord,
} from '../../../plugins/platform/contract/observations.ts'
import type { Call } from '../../operations/family.ts'
import { findApp } from '../apps/service.ts'
import { observeError } from './errors.ts'

type Asked = Pick<Call, 'principal'> & {
  readonly params: { readonly app_id: string; readonly error_id: string }
}

/** An error of an app that the caller may see. */
export async function findProblem(
  {
    apps,
    observations,
  }: {
    readonly apps: Pick<AppReads, 'get'>
    readonly observations: Pick<ObservationReads, 'problem'>
  },
  { principal, params }: Asked,
): Promise<ProblemRecord> {
  const app = await findApp(apps, principal, params.app_id)
  const problem = await observations.problem(app.id, params.error_id)
  if (problem === undefined) throw observeError('error_not_found')
  return problem
}

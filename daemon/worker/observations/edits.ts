import type { DeploymentReads } from '../../../plugins/platform/contract/deployments.ts'
import type { ToldErrors } from '../../../plugins/platform/contract/error-groups.ts'
import type { GatheredErrors } from './error-groups.ts'

/** Maximum cached deployments; their edits never change. */
const MOST_KNOWN = 1000

/** Finds the deployment and the edit that an error group came with. */
export function createEdits(deployments: Pick<DeploymentReads, 'get'>): {
  complete(group: GatheredErrors): Promise<ToldErrors>
} {
  const known = new Map<string, string | null>()

  /** Undefined for an id that is not a deployment of the app. */
  async function find(appId: string, deploymentId: string): Promise<string | null | undefined> {
    const key = `${deploymentId} ${appId}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const deployment = await deployments.get(appId, deploymentId)
    if (deployment === undefined) return undefined
    if (known.size === MOST_KNOWN) known.clear()
    known.set(key, deployment.edit_id)
    return deployment.edit_id
  }

  return {
    async complete({ claimed_deployment_id, ...group }) {
      const { app_id, deployment_id } = group
      if (deployment_id === null) return { ...group, edit_id: null }
      // A tab may be open since an earlier release. The page is not trusted: its deployment is looked up.
      const edit =
        claimed_deployment_id === null ? undefined : await find(app_id, claimed_deployment_id)
      return edit === undefined
        ? { ...group, edit_id: (await find(app_id, deployment_id)) ?? null }
        : { ...group, deployment_id: claimed_deployment_id, edit_id: edit }
    },
  }
}

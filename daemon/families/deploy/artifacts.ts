import type { SkillArtifact } from '../../operations/agent.ts'

/** The deployment, with the address of its release. */
export const RELEASE: SkillArtifact = {
  name: 'release',
  operation: 'deploy.get',
  ask: ({ app_id, id }) => ({ app_id: String(app_id), deployment_id: String(id) }),
}

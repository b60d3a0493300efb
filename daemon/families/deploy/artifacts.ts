import type { SkillArtifact } from '../../operations/agent.ts'

/** The address of the release, while it is live; the record of the deployment is an artifact anyway. */
export const RELEASE: SkillArtifact = {
  name: 'release',
  operation: 'deploy.get',
  ask: ({ app_id, id }) => ({ app_id: String(app_id), deployment_id: String(id) }),
  as: 'url',
  mediaType: 'text/html',
  show: ({ url }) => (typeof url === 'string' ? url : undefined),
}

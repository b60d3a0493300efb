import type { SkillArtifact, WireRecord } from '../../operations/agent.ts'

/** The address of an app's preview, for work that made a revision of it. */
export const PREVIEW: SkillArtifact = {
  name: 'preview',
  operation: 'apps.get',
  ask: (record) => ofApp(record),
  as: 'url',
  mediaType: 'text/html',
  show: ({ preview_url }) => (typeof preview_url === 'string' ? preview_url : undefined),
}

/** The record of an app names it by its id, the record of an edit by `app_id`. */
function ofApp({ id, app_id = id }: WireRecord): Readonly<Record<string, string>> | undefined {
  return typeof app_id === 'string' ? { app_id } : undefined
}

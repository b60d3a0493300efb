import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'
import type { AppRecord, RevisionRecord } from '../../plugins/platform/contract/apps.ts'

export function sampleApp(id: string, changes: Partial<AppRecord> = {}): AppRecord {
  return {
    id,
    account_id: ACCOUNT,
    name: 'Shop',
    alias: null,
    status: 'ready',
    source: { kind: 'template', template_id: 'blank', cloned_from: null },
    revision: 1,
    metadata: {},
    created_by: { type: 'user', id: 'usr_1' },
    created_at: BORN,
    updated_at: BORN,
    archived_at: null,
    purge_at: null,
    ...changes,
  }
}

export function sampleRevision(
  appId: string,
  number: number,
  changes: Partial<RevisionRecord> = {},
): RevisionRecord {
  return {
    app_id: appId,
    number,
    tree: 'ab'.repeat(32),
    files: 3,
    bytes: 4_294_967_296,
    message: null,
    edit_id: null,
    created_by: { type: 'key', id: 'key_1' },
    created_at: BORN,
    ...changes,
  }
}

import { defineFamily } from '../../operations/family.ts'
import { treeError } from '../../trees/errors.ts'
import { appError } from './errors.ts'
import { appEvents } from './events.ts'
import { archiveApp } from './operations/archive.ts'
import { cloneApp } from './operations/clone.ts'
import { createApp } from './operations/create.ts'
import { getContent } from './operations/get-content.ts'
import { getHostingUsage } from './operations/get-hosting-usage.ts'
import { getApp, listApps } from './operations/read.ts'
import { getTree } from './operations/get-tree.ts'
import { listRevisions } from './operations/list-revisions.ts'
import { listTemplates } from './operations/list-templates.ts'
import { restoreApp } from './operations/restore.ts'
import { updateApp } from './operations/update.ts'

/** Apps: small web apps with immutable revisions of their files. */
export const appsFamily = defineFamily({
  name: 'apps',
  scopes: { apps: ['read', 'write'] },
  events: appEvents.types,
  errors: { rows: { ...appError.rows, ...treeError.rows } },
  operations: [
    listApps,
    createApp,
    getApp,
    updateApp,
    archiveApp,
    restoreApp,
    cloneApp,
    listRevisions,
    getTree,
    getContent,
    getHostingUsage,
    listTemplates,
  ],
})

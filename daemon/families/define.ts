/**
 * `keyhook/families`: what a family of your own is made of. A family is one value, of the kind that the product's own
 * families are, and `KEYHOOK_FAMILIES_PLUGIN` or `createKeyhook({ families })` adds it everywhere.
 *
 * @example
 * import { defineFamily, operation, z } from 'keyhook/families'
 *
 * export const family = defineFamily({ name: 'notes', scopes: { notes: ['read', 'write'] }, … })
 *
 * @module
 */
import type { Kind } from '../../lib/internal/arguments.ts'
import {
  FUNCTION,
  NAME,
  OBJECT,
  checked,
  checkedAsync,
  nullable,
  optional,
  optionsOf,
  recordOf,
} from '../../lib/internal/arguments.ts'
import * as principals from '../authority/principal.ts'
import { audit as insertAudit } from './audit/note.ts'
import { listPage as readPage } from './cursor.ts'
import { pageOf as schemaOfPage } from './wire.ts'

export { z } from 'zod'
export { KeyhookError, defineErrors } from '../../lib/errors.ts'
export type { ErrorRow, ErrorTable } from '../../lib/errors.ts'
export type { PlatformStore, PlatformTx } from '../../plugins/platform/contract.ts'
export type {
  RecordDialect,
  RecordMigration,
  RecordSql,
  Records,
} from '../../plugins/platform/contract/records.ts'
export { defineRecords } from '../../plugins/platform/contract/records.ts'
export type { Access } from '../authority/admission.ts'
export type { Principal } from '../authority/principal.ts'
export type { BuiltInEvent, FamilyEvents } from '../events/types.ts'
export { IDENTIFIERS, defineEvents } from '../events/types.ts'
export type { DefinedJob, Job, JobEnd, RunningJob } from '../jobs/define.ts'
export { defineJob } from '../jobs/define.ts'
export type { AgentUse } from '../operations/agent.ts'
export type { Call, OperationInput, OwnCall, WriteCall } from '../operations/call.ts'
export type { Family, TypedFamily } from '../operations/family.ts'
export { defineFamily } from '../operations/family.ts'
export type { Operation } from '../operations/operation.ts'
export { operation } from '../operations/operation.ts'
export type { Platform } from '../platform.ts'
export { pageQuery } from './wire.ts'

const PRINCIPAL = recordOf({ type: NAME, account_id: nullable(NAME) })
const PLATFORM = recordOf({ queues: OBJECT, newId: FUNCTION })

/** The account that a call acts in: whoever has none was refused before. */
export const accountOf: typeof principals.accountOf = checked(
  'accountOf',
  { principal: PRINCIPAL },
  principals.accountOf,
)

const ENTRY: Kind = optionsOf({
  account_id: NAME,
  action: NAME,
  target_type: NAME,
  target_id: NAME,
  app_id: optional(nullable(NAME)),
  origins: optional(nullable(OBJECT)),
})

/** Records a change for the owners of the account, in the unit of work of the call. */
export const audit: typeof insertAudit = checkedAsync(
  'audit',
  { call: recordOf({ tx: OBJECT, platform: PLATFORM, principal: PRINCIPAL }), entry: ENTRY },
  insertAudit,
)

/**
 * The response of one page of a list of the account, newest first: `read` gets `{ limit, after }` and returns
 * `{ rows, more }`.
 */
export const listPage: typeof readPage = checkedAsync(
  'listPage',
  {
    call: recordOf({
      platform: PLATFORM,
      principal: PRINCIPAL,
      query: OBJECT,
      abandoned: FUNCTION,
    }),
    list: optionsOf({ list: OBJECT, read: FUNCTION, cursorOf: FUNCTION, show: FUNCTION }),
  },
  readPage,
)

/** The schema of a page of a list. */
export const pageOf: typeof schemaOfPage = checked(
  'pageOf',
  { record: recordOf({ _zod: OBJECT }) },
  schemaOfPage,
)

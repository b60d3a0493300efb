import type { ErrorRow } from '../../lib/errors.ts'
import { kernelError } from '../../lib/errors.ts'
import type { Family } from '../operations/family.ts'
import { httpError } from '../operations/errors.ts'
import { accountsFamily } from './accounts/family.ts'
import { appsFamily } from './apps/family.ts'
import { auditFamily } from './audit/family.ts'
import { billingFamily } from './billing/family.ts'
import { deployFamily } from './deploy/family.ts'
import { discoveryFamily } from './discovery/family.ts'
import { editsFamily } from './edits/family.ts'
import { eventsFamily } from './events/family.ts'
import { filesFamily } from './files/family.ts'
import { keysFamily } from './keys/family.ts'
import { observeFamily } from './observe/family.ts'
import { operatorFamily } from './operator/family.ts'
import { portalFamily } from './portal/family.ts'
import { sealsFamily } from './seals/family.ts'
import { sendingFamily } from './sending/family.ts'
import { settingsFamily } from './settings/family.ts'
import { webhooksFamily } from './webhooks/family.ts'

/** The families that the daemon serves. */
export const FAMILIES: readonly Family[] = [
  keysFamily,
  appsFamily,
  editsFamily,
  filesFamily,
  deployFamily,
  observeFamily,
  settingsFamily,
  webhooksFamily,
  eventsFamily,
  accountsFamily,
  billingFamily,
  auditFamily,
  discoveryFamily,
  sealsFamily,
  sendingFamily,
  operatorFamily,
  portalFamily,
]

const OF_DAEMONS: ReadonlySet<Family> = new Set([accountsFamily, appsFamily, operatorFamily])

/** The families that an embedded Keyhook serves only where they are asked for, and those that it always serves. */
export const ABSENT_FAMILIES: readonly Family[] = FAMILIES.filter(isAbsent)
export const EMBEDDED_FAMILIES: readonly Family[] = FAMILIES.filter((one) => !isAbsent(one))

/** An embedder has users and operators of its own, and most have no apps. */
function isAbsent(family: Family): boolean {
  return OF_DAEMONS.has(family) || (family.needs ?? []).some(isAbsent)
}

/** Every error code of these families and of the layers around them. */
export function errorRows(families: readonly Family[]): Readonly<Record<string, ErrorRow>> {
  return Object.assign(
    {},
    kernelError.rows,
    httpError.rows,
    ...families.map(({ errors }) => errors.rows),
  ) as Readonly<Record<string, ErrorRow>>
}

import type { RequiredScope } from '../../lib/scope/cover.ts'
import { allows } from '../../lib/scope/cover.ts'
import type { Principal } from '../authority/principal.ts'
import { creatorOf, isPinned } from '../authority/principal.ts'
import type { Charged } from './billing.ts'

/** The scope that reads balances and limits. It may be undeclared: work is charged without the family too. */
const READS = 'billing:read' as RequiredScope

/** Who has work done, and whether they may read what limits it: as `GET /v1/billing/limits` decides. */
export function payerOf(principal: Principal): Pick<Charged, 'by' | 'readsBilling'> {
  const readsBilling = !isPinned(principal) && allows(principal.authority.scopes, READS)
  return { by: creatorOf(principal), readsBilling }
}

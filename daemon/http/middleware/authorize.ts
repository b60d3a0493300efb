import { kernelError } from '../../../lib/errors.ts'
import type { RequiredScope } from '../../../lib/scope/cover.ts'
import { requiredScope } from '../../../lib/scope/cover.ts'
import type { ScopeUniverse } from '../../../lib/scope/syntax.ts'
import type { Operation } from '../../operations/operation.ts'
import type { Platform } from '../../platform.ts'
import type { Principal } from '../../authority/principal.ts'
import { isPinned, requireScope } from '../../authority/principal.ts'
import { httpError } from '../../operations/errors.ts'
import { requireStepUp } from '../../authority/access.ts'
import type { Step } from '../state.ts'

type Params = Readonly<Record<string, string>>
type Check = (principal: Principal, params: Params) => void

/**
 * Refuses whoever may not call the operation, by the key and the route alone: so a refusal says nothing
 * about what exists.
 */
export function authorize(
  operation: Operation,
  { universe, clock }: Pick<Platform, 'universe' | 'clock'>,
): Step {
  const check = checkOf(operation, universe)
  return function authorize(ctx, next) {
    const { principal } = ctx.state
    if (operation.access !== 'public' && principal === undefined) {
      throw kernelError('missing_credentials')
    }
    if (principal !== undefined) check(principal, ctx['params'] as Params)
    if (operation.stepUp === true) requireStepUp(principal, clock.now())
    return next()
  }
}

function checkOf({ access }: Operation, universe: ScopeUniverse): Check {
  if (typeof access === 'object') {
    const required = requiredScope(access.scope, universe)
    const check = scopeCheck(required, access.pinned === 'refused', access.service === true)
    const { self } = access
    return (principal, params) => {
      const itself =
        self !== undefined && principal.type === 'key' && principal.key.id === params[self]
      if (!itself) check(principal, params)
    }
  }
  return CHECKS[access]
}

const CHECKS: Readonly<Record<Extract<Operation['access'], string>, Check>> = {
  key(principal) {
    if (principal.type !== 'key') throw httpError('key_required')
  },
  user(principal) {
    if (principal.type !== 'user') throw httpError('session_required')
  },
  owner(principal) {
    if (principal.type === 'key') throw httpError('owner_required')
    if (principal.account_id === null) throw httpError('account_required')
  },
  operator(principal) {
    if (principal.type !== 'operator') throw httpError('operator_required')
  },
  public: () => undefined,
}

function scopeCheck(required: RequiredScope, refusePinned: boolean, forService: boolean): Check {
  return (principal) => {
    if (principal.account_id === null && !forService) throw httpError('account_required')
    requireScope(principal.authority, required)
    if (refusePinned && isPinned(principal)) throw kernelError('key_pinned')
  }
}

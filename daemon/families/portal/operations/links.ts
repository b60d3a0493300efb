import { toIso } from '../../../../lib/time.ts'
import type { StoreTx } from '../../../../plugins/store/contract.ts'
import { httpError } from '../../../operations/errors.ts'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import { isAccountId } from '../../../authority/principal.ts'
import { endPortalSessions as end, insertPortalLink } from '../link.ts'
import {
  endedPortalSessions,
  examplePortalSession,
  portalAccountParams,
  portalLink,
  portalLinkCreation,
} from '../schema.ts'

const OMITTED = { omit: "The operator's; a key cannot call it." } as const

const { id, account_id, scopes } = examplePortalSession

export const createPortalLink = operation({
  effect: 'write',
  id: 'portal.create_link',
  summary: 'Create a link that opens the portal of an account once; it is shown once',
  method: 'POST',
  path: '/v1/accounts/{account_id}/portal-links',
  access: 'operator',
  agent: OMITTED,
  emits: ['portal'],
  input: { params: portalAccountParams, body: portalLinkCreation.optional() },
  output: portalLink,
  status: 201,
  errors: ['operator_required', 'account_not_found', 'invalid_scope', 'scope_not_of_portal'],
  example: {
    params: { account_id },
    body: { scopes: [...scopes], expires_in: 300 },
    response: {
      id,
      url: 'https://keys.example.com/portal#token=service_pl_3fJ9kQ2x…',
      scopes: [...scopes],
      expires_at: '2026-01-31T12:05:00.000Z',
    },
  },
  secret: ['url'],
  // One customer who loads a page again and again must not keep links from the others.
  unmetered: 'operator',
  command: 'portal link',
  async run(call) {
    const { platform, tx, params, body = {} } = call
    await requireAccount(platform, tx, params.account_id)
    const link = await insertPortalLink(call, params.account_id, body)
    return { ...link, scopes: [...link.scopes], expires_at: toIso(link.expires_at) }
  },
})

export const endPortalSessions = operation({
  effect: 'write',
  id: 'portal.end_sessions',
  summary: 'End the sessions of an account in the portal, and its unused links, at once',
  method: 'DELETE',
  path: '/v1/accounts/{account_id}/portal-sessions',
  access: 'operator',
  agent: OMITTED,
  emits: ['portal'],
  input: { params: portalAccountParams },
  output: endedPortalSessions,
  errors: ['operator_required', 'account_not_found'],
  example: { params: { account_id }, response: { account_id, ended: 2 } },
  unmetered: 'operator',
  command: 'portal end',
  async run(call) {
    const { platform, tx, params } = call
    await requireAccount(platform, tx, params.account_id)
    return { account_id: params.account_id, ended: await end(call, params.account_id) }
  },
})

/** An embedder's accounts have no rows here: any well-formed id is one. */
async function requireAccount(
  { catalogue }: Platform,
  { accounts }: StoreTx,
  id: string,
): Promise<void> {
  const isEmbedders = catalogue.families.every(({ name }) => name !== 'accounts')
  if (isEmbedders && isAccountId(id)) return
  if ((await accounts.get(id)) === undefined) throw httpError('account_not_found')
}

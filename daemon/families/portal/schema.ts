import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import { allows, requiredScope } from '../../../lib/scope/cover.ts'
import { MAX_SCOPES, scopesOf } from '../../../lib/scope/syntax.ts'
import type { Platform } from '../../platform.ts'
import type { PortalPrincipal } from '../../authority/principal.ts'
import { anyText, instant, plainText } from '../wire.ts'
import { LINK_SECONDS } from './link.ts'

export const portalAccountParams = z.strictObject({ account_id: plainText })

export const portalLinkCreation = z.strictObject({
  scopes: z.array(anyText(100)).min(1).max(MAX_SCOPES).optional().meta({
    description:
      'What the session may do: scopes of keys and webhooks, events:read to read and subscribe to declared event types, and those of your own families, which it can give to keys only. Default: keys:read, keys:write, webhooks:read and webhooks:write.',
  }),
  expires_in: z
    .int()
    .min(LINK_SECONDS.least)
    .max(LINK_SECONDS.most)
    .optional()
    .meta({
      description: `Seconds until the link is no longer accepted. Default ${LINK_SECONDS.byDefault}.`,
    }),
})

export const portalLink = z
  .strictObject({
    id: z
      .string()
      .meta({ description: 'Id of the session that it opens, as the audit log has it.' }),
    url: z.string().nullable().meta({
      description: 'Opens the portal once. Null in the replay of an Idempotency-Key.',
    }),
    scopes: z.array(z.string()),
    expires_at: instant.meta({ description: 'When the link is no longer accepted.' }),
  })
  .meta({ id: 'PortalLink' })

export const portalOpening = z.strictObject({
  token: anyText(200).min(1).meta({ description: 'Token of the link, after #token=.' }),
})

const session = {
  id: z.string(),
  account_id: z.string(),
  scopes: z.array(z.string()),
  delegable: z.array(z.string()).meta({
    description: 'Every single scope that its keys may have, wildcards spelled out.',
  }),
  expires_at: instant.meta({ description: 'When it ends, however much it is used.' }),
}

export const portalSession = z.strictObject(session).meta({ id: 'PortalSession' })

export const openedPortalSession = z
  .strictObject({
    ...session,
    token: z.string().meta({ description: 'Bearer token of the session; shown once.' }),
  })
  .meta({ id: 'OpenedPortalSession' })

export const endedPortalSessions = z
  .strictObject({
    account_id: z.string(),
    ended: z.int().meta({ description: 'Sessions and links that ended by this.' }),
  })
  .meta({ id: 'EndedPortalSessions' })

export function toWirePortalSession(
  { account_id, authority: { scopes }, session: { id, expires_at } }: PortalPrincipal,
  { universe }: Pick<Platform, 'universe'>,
): z.input<typeof portalSession> {
  return {
    id,
    account_id,
    scopes: [...scopes],
    delegable: scopesOf(universe, 'one action each').filter((scope) =>
      allows(scopes, requiredScope(scope, universe)),
    ),
    expires_at: toIso(expires_at),
  }
}

export const examplePortalSession = {
  id: '01890a5d-ac96-774b-bcce-b302099a8c00',
  account_id: 'acme',
  scopes: ['keys:read', 'keys:write', 'webhooks:read', 'webhooks:write'],
  delegable: ['keys:read', 'keys:write', 'webhooks:read', 'webhooks:write'],
  expires_at: '2026-01-31T13:00:00.000Z',
} as const

import { defineFamily } from '../../operations/family.ts'
import { portalError } from './errors.ts'
import { createPortalLink, endPortalSessions } from './operations/links.ts'
import { endPortalSession, getPortalSession, openPortalSession } from './operations/session.ts'

/** Links to the portal, in which somebody else's customers manage their keys and webhooks, and its sessions. */
export const portalFamily = defineFamily({
  name: 'portal',
  scopes: {},
  events: [],
  errors: portalError,
  operations: [
    createPortalLink,
    endPortalSessions,
    openPortalSession,
    getPortalSession,
    endPortalSession,
  ],
})

import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import { toHex } from '../../lib/internal/bytes.ts'
import type { Changing, Platform } from '../platform.ts'
import { endPortalSessions, insertPortalLink } from '../families/portal/link.ts'
import type { LinkOptions, PortalLink } from '../families/portal/link.ts'
import { readPortal } from './arguments.ts'

export type { LinkOptions, PortalLink } from '../families/portal/link.ts'

/** The portal of an embedder's customers. */
export interface EmbeddedPortal {
  link(accountId: string, options?: LinkOptions): Promise<PortalLink>
  end(accountId: string): Promise<number>
}

const REQUEST_ID_BYTES = 12

export function createEmbeddedPortal(platform: Platform): EmbeddedPortal {
  const { store, clock, random } = platform
  const changing = <T>(account_id: string, work: (change: Changing) => Promise<T>): Promise<T> =>
    store.write((tx) =>
      work({
        tx,
        platform,
        principal: { type: 'operator', account_id, authority: FULL_AUTHORITY },
        now: clock.now(),
        requestId: `req_${toHex(random(REQUEST_ID_BYTES))}`,
        ip: '',
        via: null,
      }),
    )
  return {
    async link(...args) {
      const [accountId, options = {}] = readPortal.link(args) as typeof args
      return changing(accountId, (change) => insertPortalLink(change, accountId, options))
    },
    async end(...args) {
      const [accountId] = readPortal.end(args) as typeof args
      return changing(accountId, (change) => endPortalSessions(change, accountId))
    },
  }
}

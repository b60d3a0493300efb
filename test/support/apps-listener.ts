import { readConfig } from '../../daemon/config/config.ts'
import type { Listener } from '../../daemon/listener/listener.ts'
import { openAppsListener } from '../../daemon/hosting/listener.ts'
import type { VirtualClock } from './clock.ts'
import { createClock } from './clock.ts'
import type { Hosting } from './hosting.ts'
import { openHosting } from './hosting.ts'

interface Scope {
  teardown(handler: () => Promise<void>): void
}

/** Where visitors come in, as a daemon has it. */
export interface Entrance {
  readonly port: number
  /** By which they are watched. */
  readonly clock: VirtualClock
  readonly hosting: Hosting
  /** Why visitors were refused, in turn. */
  readonly refused: string[]
}

export interface Entering {
  readonly settings?: Readonly<Record<string, string>>
  readonly hosting?: Parameters<typeof openHosting>[1]
  /** What they must take at least, in bytes a second. */
  readonly least?: number
}

export async function openEntrance(
  test: Scope,
  { settings = {}, hosting: given = {}, ...pace }: Entering = {},
): Promise<Entrance> {
  const clock = createClock(Date.UTC(2026, 0, 31))
  const config = readConfig({ KEYHOOK_PORT: '0', ...settings })
  const listener = await openAppsListener(config, { clock, ...pace })
  test.teardown(() => listener.close(0))
  const hosting = await openHosting(test, given)
  const refused: string[] = []
  const [handler] = hosting.server.listeners('request')
  listener.serve(handler as Parameters<Listener['serve']>[0], (why) => void refused.push(why))
  return { port: listener.address.port, clock, hosting, refused }
}

import type { SendResult } from '../../lib/delivery/outcome.ts'
import type { SendRequest, Sender } from '../../lib/engine/ports.ts'
import type { Instant } from '../../lib/time.ts'
import type { Machine, World } from './world.ts'

/** What arrived at a receiver. */
export interface Arrival {
  readonly at: Instant
  readonly url: string
  readonly delivery: string
  readonly event: string
  readonly body: Uint8Array
  readonly status: number
}

/** How a receiver answers: always well, at first badly, or never well. */
export type Manner = 'well' | 'badly at first' | 'never well'

/** Every receiver of a world, by url. */
export interface Receivers {
  readonly arrivals: readonly Arrival[]
  /** The network as one machine's sender sees it. */
  senderOf(machine: Machine): Sender
}

const BAD_AT_FIRST = 2
const LOST: SendResult = { ok: false, code: 'timeout', durationMs: 500 }

export function createReceivers(world: World, mannerOf: (url: string) => Manner): Receivers {
  const arrivals: Arrival[] = []

  function receive({ url, headers, body }: SendRequest): number {
    const delivery = headers['X-Service-Delivery-ID'] ?? ''
    const before = arrivals.filter((one) => one.delivery === delivery).length
    const manner = mannerOf(url)
    const isWell = manner === 'well' || (manner === 'badly at first' && before >= BAD_AT_FIRST)
    const status = isWell ? 200 : 500
    const { id } = JSON.parse(Buffer.from(body).toString()) as { id: string }
    arrivals.push({ at: world.now(), url, delivery, event: id, body, status })
    return status
  }

  return {
    arrivals,
    senderOf: (machine) => ({
      send: (request) =>
        machine
          .ask(() => receive(request))
          .then(
            (status): SendResult => ({
              ok: true,
              status,
              retryAfter: undefined,
              body: new Uint8Array(),
              private: false,
              durationMs: 5,
            }),
            () => LOST,
          ),
    }),
  }
}

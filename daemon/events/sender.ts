import type { SendResult } from '../../lib/delivery/outcome.ts'
import type { Clock, SendRequest, Sender } from '../../lib/engine/ports.ts'
import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import type { NamedDestination } from '../../lib/webhook/destination.ts'
import { destinationOf } from '../../lib/webhook/destination.ts'
import type { Destination, DestinationOutcome } from '../../plugins/destinations/contract.ts'
import { DESTINATION_CAUSES, DESTINATION_ERRORS } from '../../plugins/destinations/contract.ts'
import type { EgressClient } from '../../plugins/egress/contract.ts'
import type { Log } from '../telemetry/log.ts'

/** Destinations by the type of the webhooks that send to them. */
export type Destinations = ReadonlyMap<string, Destination>

interface SenderOptions {
  readonly egress: Pick<EgressClient, 'send'>
  readonly destinations: Destinations
  readonly clock: Pick<Clock, 'steady' | 'after'>
  readonly log: Pick<Log, 'info' | 'error'>
}

/** Sends each attempt by the type of its webhook's url: over https, or to a destination. */
export function createSender(options: SenderOptions): Sender {
  const { egress, clock } = options
  return {
    send(request) {
      const named = destinationOf(request.url)
      return named === undefined ? egress.send(request) : sendTo(options, named, request)
    },
  }

  async function sendTo(
    { destinations, log }: SenderOptions,
    { type, name }: NamedDestination,
    request: SendRequest,
  ): Promise<SendResult> {
    const started = clock.steady()
    const outcome = await tryToSend(destinations.get(type), name, request)
    const durationMs: Millis = Math.round(clock.steady() - started)
    if (outcome.ok) return { ok: true, status: null, durationMs }
    const { code, cause, internal } = outcome
    const delivery_id = request.delivery.id
    log.info({ type, name, delivery_id, error: code, cause, internal }, 'destination.failed')
    return { ok: false, code, ...(cause !== undefined && { cause }), durationMs }
  }

  async function tryToSend(
    destination: Destination | undefined,
    name: string,
    { delivery, body, headers, timeout }: SendRequest,
  ): Promise<DestinationOutcome> {
    const late = new AbortController()
    const cancel = clock.after(timeout, () => {
      late.abort(new Error('the attempt took too long'))
    })
    try {
      // The operator may have removed it since the webhook was created.
      if (destination?.validate(name, delivery.account_id) !== true) {
        return { ok: false, code: 'destination', cause: 'undeclared' }
      }
      const { event_type: type, id, event_id, account_id, webhook_id } = delivery
      const message = { name, id, event_id, type, account_id, webhook_id, body, headers }
      const outcome = await orAborted(destination.send(message, late.signal), late.signal)
      if (late.signal.aborted && !outcome.ok) return { ok: false, code: 'timeout' }
      return known(outcome)
    } catch (cause) {
      if (late.signal.aborted) return { ok: false, code: 'timeout' }
      options.log.error({ err: cause }, 'destination.threw: a destination must not throw')
      return { ok: false, code: 'destination' }
    } finally {
      cancel()
    }
  }
}

/** Codes are stored and public: one that a plugin made up is `destination`. */
function known(outcome: DestinationOutcome): DestinationOutcome {
  if (outcome.ok) return { ok: true }
  const { code, cause, internal } = outcome
  return {
    ok: false,
    code: Object.hasOwn(DESTINATION_ERRORS, code) ? code : 'destination',
    ...(cause !== undefined && Object.hasOwn(DESTINATION_CAUSES, cause) && { cause }),
    ...(internal !== undefined && { internal }),
  }
}

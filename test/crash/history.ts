import type { Arrival } from './receiver.ts'
import type { Call, DriverLine, End, Try, Webhook } from './facts.ts'

/** An operation of the driver's; without an end it is still being asked. */
export interface Operation {
  readonly call: Call
  end: End | undefined
}

/** What the journals say, by what the checks ask for. */
export interface History {
  /** Takes in new lines: what arrived first, so that whatever led to it is known. */
  add(arrivals: readonly Arrival[], lines: readonly DriverLine[]): void
  /** Events by their mark: acknowledged, or not known to be. */
  readonly published: Map<string, Operation>
  /** Marks that are acknowledged and were not seen in the feed yet. */
  readonly unseen: Map<string, Operation>
  /** Operations on each webhook, in their order, the creation first. */
  readonly ofWebhook: ReadonlyMap<string, readonly Operation[]>
  readonly webhookAt: ReadonlyMap<string, string>
  readonly keys: readonly Operation[]
  /** Arrivals that nobody looked at yet. */
  takeFresh(): readonly Arrival[]
  /** Arrivals of the chapter by delivery. */
  readonly arrivals: Map<string, Arrival[]>
  /** Requests since the last call. */
  takeTries(): readonly Try[]
  /** Changes that ended since the last call, one way or the other. */
  takeEnded(): readonly Operation[]
}

export function createHistory(fixtures: readonly Webhook[]): History {
  const operations = new Map<number, Operation>()
  const published = new Map<string, Operation>()
  const unseen = new Map<string, Operation>()
  const ofWebhook = new Map<string, Operation[]>(fixtures.map(({ id }) => [id, []]))
  const webhookAt = new Map(fixtures.map(({ path, id }) => [path, id]))
  const keys: Operation[] = []
  const arrivals = new Map<string, Arrival[]>()
  const fresh: Arrival[] = []
  const ended: Operation[] = []
  const tries: Try[] = []

  function begin(call: Call): void {
    const operation: Operation = { call, end: undefined }
    operations.set(call.op, operation)
    const { intent } = call
    if (intent.kind === 'publish') for (const mark of intent.marks) published.set(mark, operation)
    else if (intent.kind.startsWith('key.') || intent.kind === 'probe') keys.push(operation)
    else if ('id' in intent) ofWebhook.get(intent.id)?.push(operation)
  }

  function finish(end: End): void {
    const operation = operations.get(end.op)
    if (operation === undefined) return
    operations.delete(end.op)
    operation.end = end
    const { intent } = operation.call
    // A value that ended must be refused.
    if (intent.kind !== 'probe') ended.push(operation)
    if (intent.kind === 'publish' && end.outcome === 'ok') {
      for (const mark of intent.marks) unseen.set(mark, operation)
    }
    if (intent.kind === 'webhook.create' && end.id !== undefined) {
      ofWebhook.set(end.id, [operation])
      webhookAt.set(intent.path, end.id)
    }
  }

  return {
    published,
    unseen,
    ofWebhook,
    webhookAt,
    keys,
    arrivals,
    add(came, lines) {
      for (const line of lines) {
        if (line.t === 'call') begin(line)
        else if (line.t === 'end') finish(line)
        else tries.push(line)
      }
      for (const arrival of came) {
        const known = arrivals.get(arrival.delivery)
        if (known === undefined) arrivals.set(arrival.delivery, [arrival])
        else known.push(arrival)
        fresh.push(arrival)
      }
    },
    takeFresh: () => fresh.splice(0),
    takeTries: () => tries.splice(0),
    takeEnded: () => ended.splice(0),
  }
}

import assert from 'node:assert/strict'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import type {
  Destination,
  DestinationErrorCode,
  DestinationMessage,
  DestinationOutcome,
} from '../contract.ts'

/** One message as a consumer reads it. */
export type Received = Pick<DestinationMessage, 'id' | 'type' | 'body' | 'headers'>

/** What a destination gives the suite; made anew for every case. */
export interface DestinationHarness extends ConformanceHarness {
  readonly destination: Destination
  /** A name that is declared. */
  readonly name: string
  /** What arrived for that name, repeats included. */
  received(): Promise<readonly Received[]>
  /** Makes the destination refuse every message of that name; given with the capability `refuses`. */
  refuse?(): Promise<void>
  /** Makes the next send hang until its signal aborts; given with the capability `hangs`. */
  hang?(): Promise<void>
  /** Makes its server unreachable; given with `restart` and the capability `server`. */
  stop?(): Promise<void>
  restart?(): Promise<void>
}

export type DestinationCase = ConformanceCase<DestinationHarness>

export const NEVER: AbortSignal = new AbortController().signal

/** The account of every message. */
export const ACCOUNT = 'acct_1'

const encoder = new TextEncoder()
let count = 0

/** A message of one event, with what an https webhook sends. */
export function messageOf(
  { name }: Pick<DestinationHarness, 'name'>,
  changes: Partial<DestinationMessage> = {},
): DestinationMessage {
  count += 1
  const id = `01890a5d-ac96-774b-bcce-${String(count).padStart(12, '0')}`
  const type = 'order.paid'
  return {
    name,
    id,
    event_id: `evt_${count}`,
    type,
    account_id: ACCOUNT,
    webhook_id: 'webhook-1',
    body: encoder.encode(`{"id":"evt_${count}","type":"${type}","data":{"text":"größer"}}`),
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Event': type,
      'X-Service-Delivery-ID': id,
      'Service-Signature': `t=1700000000,v1=${'0123456789abcdef'.repeat(4)}`,
    },
    ...changes,
  }
}

export function assertFailed(
  outcome: DestinationOutcome,
  ...codes: readonly DestinationErrorCode[]
): void {
  assert.equal(outcome.ok, false, 'it was to fail')
  if (!outcome.ok) assert.ok(codes.includes(outcome.code), JSON.stringify(outcome))
}

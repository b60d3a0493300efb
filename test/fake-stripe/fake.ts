import type { IncomingHttpHeaders } from 'node:http'
import type { Checkouts } from './checkout.ts'
import type { Faults } from './faults.ts'
import type { Outbox } from './outbox.ts'
import type { FakeState } from './state.ts'

/** A request to the API, as it came. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly key: string | undefined
  /** Whether whoever asked went away before the end. */
  readonly isAborted: boolean
}

/** A loopback server that speaks Stripe's HTTP and is none: no money moves. */
export interface FakeStripe {
  readonly url: string
  readonly state: FakeState
  readonly checkouts: Checkouts
  readonly outbox: Outbox
  readonly faults: Faults
  readonly requests: readonly SeenRequest[]
  /** Most elements of a page, whatever is asked for; default 100. */
  pageSize: number
  close(): Promise<void>
}

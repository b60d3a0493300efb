import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Delivery } from '../../plugins/billing/conformance.ts'
import { arrange, type Arrangement } from '../../plugins/billing/memory/arrange.ts'
import type { FakeEvent } from './objects.ts'

export interface OutboxOptions {
  /** Where events are sent; undefined holds all of them. */
  readonly webhook: string | undefined
  readonly secret: string
  /** Milliseconds. */
  readonly now: () => number
}

/** One attempt to deliver an event. */
export interface Attempt {
  readonly id: string
  readonly type: string
  /** 0 without an answer. */
  readonly status: number
}

const ATTEMPTS = 5
const FIRST_WAIT = 100
const TIMEOUT = 10_000

/** Events on their way to the intake: signed, and on demand held, repeated, reordered and lost. */
export class Outbox {
  readonly attempts: Attempt[] = []
  readonly #options: OutboxOptions
  readonly #closing = new AbortController()
  #held: FakeEvent[] = []
  #isHeld: boolean
  #sending: Promise<unknown> = Promise.resolve()

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#isHeld = options.webhook === undefined
  }

  add(event: FakeEvent): void {
    if (this.#isHeld) this.#held.push(event)
    else this.#send([event])
  }

  /** Keeps events until `release` or `take`. */
  hold(): void {
    this.#isHeld = true
  }

  /** Sends what is held, and from now on everything at once. */
  release(how?: Arrangement): Promise<void> {
    this.#isHeld = this.#options.webhook === undefined
    this.#send(arrange(this.#held.splice(0), how))
    return this.settled()
  }

  /** Signs what is held, and does not send it. */
  take(how?: Arrangement): readonly Delivery[] {
    const { now } = this.#options
    return arrange(this.#held.splice(0), how).map((event) =>
      this.sign(Buffer.from(JSON.stringify(event)), now()),
    )
  }

  /** @param at milliseconds */
  sign(body: Uint8Array, at: number, secret: string = this.#options.secret): Delivery {
    const seconds = Math.floor(at / 1000)
    const mac = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')
    const signature = `t=${seconds},v1=${mac}`
    return {
      headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
      body,
    }
  }

  /** Resolves once nothing is on its way. */
  async settled(): Promise<void> {
    await this.#sending
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#sending
  }

  #send(events: readonly FakeEvent[]): void {
    this.#sending = this.#sending.then(async () => {
      for (const event of events) await this.#deliver(event)
    })
  }

  async #deliver(event: FakeEvent): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS && !this.#closing.signal.aborted; attempt += 1) {
      const { id, type } = event
      const status = await this.#post(event)
      this.attempts.push({ id, type, status })
      if (status >= 200 && status < 300) return
      await pause(FIRST_WAIT * 2 ** attempt, undefined, { signal: this.#closing.signal }).catch(
        () => undefined,
      )
    }
  }

  async #post(event: FakeEvent): Promise<number> {
    const { webhook = '', now } = this.#options
    const { headers, body } = this.sign(Buffer.from(JSON.stringify(event)), now())
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(TIMEOUT)])
    try {
      const sent = {
        method: 'POST',
        headers,
        body: Buffer.from(body),
        redirect: 'manual',
        signal,
      } as const
      const answer = await fetch(webhook, sent)
      await answer.body?.cancel()
      return answer.status
    } catch {
      return 0
    }
  }
}

import { openJournal } from '../journal.ts'
import type { DriverOrders, End, Intent } from '../facts.ts'
import type { Ask, Json, Reply } from '../wire.ts'
import { createWire } from '../wire.ts'

/** Where operations are asked for and journaled. */
export interface Office {
  /**
   * Asks until the outcome is known: an unknown is asked again as it was. What may not be asked again
   * ends unknown.
   */
  run(intent: Intent, ask: OfficeAsk): Promise<Done>
  /** A number that is never given again. */
  next(): number
  /** Waits, and beyond that for as long as the supervisor asked for a pause. */
  rest(millis: number): Promise<void>
}

export interface OfficeAsk extends Omit<Ask, 'token'> {
  /** A key's value; without it the operator asks for the account. */
  readonly key?: string
  readonly once?: boolean
  /** A refusal that means that an earlier try, whose answer was lost, did it. */
  readonly doneWhen?: number
  /** What of the answer is journaled. */
  readonly note?: (body: Json) => Pick<End, 'ids' | 'id' | 'shown'>
}

export interface Done {
  readonly reply: Reply
  readonly end: End
}

const AGAIN = 20

export function createOffice(
  orders: DriverOrders,
): Office & { pause(): Promise<void>; resume(): void } {
  const { origins, operator, account } = orders
  const journal = openJournal(orders.journal)
  const send = createWire()
  let numbers = 0
  let under = 0
  let paused: Promise<void> | undefined
  let release = (): void => undefined
  let drained = (): void => undefined

  /** Each time of another daemon, where there are several. */
  async function ask(op: number, tries: number, asked: OfficeAsk): Promise<Reply> {
    const { key, ...request } = asked
    const origin = origins[(op + tries) % origins.length] ?? ''
    const headers = key === undefined ? { 'keyhook-account': account } : {}
    const reply = await send(origin, {
      ...request,
      token: key ?? operator,
      headers: { ...headers, ...asked.headers },
    })
    const { outcome, status } = reply
    journal.write({ t: 'try', op, at: Date.now(), outcome, status })
    return reply
  }

  async function untilKnown(op: number, asked: OfficeAsk): Promise<Reply> {
    for (let tries = 1; ; tries++) {
      const reply = await ask(op, tries, asked)
      const isRefused = reply.outcome === 'fail' && reply.status !== 0
      if (tries > 1 && isRefused && reply.status === asked.doneWhen) {
        return { ...reply, outcome: 'ok' }
      }
      if (reply.outcome === 'ok' || isRefused) return reply
      if (reply.outcome === 'unknown' && asked.once === true) return reply
      await new Promise((resolve) => setTimeout(resolve, AGAIN))
    }
  }

  return {
    async run(intent, asked) {
      await paused
      under++
      const op = numbers++
      journal.write({ t: 'call', op, at: Date.now(), intent })
      const reply = await untilKnown(op, asked)
      const { outcome, status, body } = reply
      const error = body['error'] as { readonly code?: string } | undefined
      const end: End = {
        t: 'end',
        op,
        at: Date.now(),
        outcome,
        status,
        code: error?.code,
        ...(outcome === 'ok' ? asked.note?.(body) : {}),
      }
      journal.write(end)
      under--
      if (under === 0) drained()
      return { reply, end }
    },
    next: () => numbers++,
    async rest(millis) {
      await new Promise((resolve) => setTimeout(resolve, millis))
      await paused
    },
    async pause() {
      paused ??= new Promise((resolve) => (release = resolve))
      if (under > 0) await new Promise<void>((resolve) => (drained = resolve))
      await journal.synced()
    },
    resume() {
      paused = undefined
      release()
    },
  }
}

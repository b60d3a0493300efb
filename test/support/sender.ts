import type { SendResult } from '../../lib/delivery/outcome.ts'
import type { Sender, SendRequest } from '../../lib/engine/ports.ts'

export function answered(status: number, retryAfter?: string): SendResult {
  return {
    ok: true,
    status,
    retryAfter,
    body: new Uint8Array(),
    private: false,
    durationMs: 5,
  }
}

/** A network whose responses a test sets, and which counts requests. */
export interface FakeSender extends Sender {
  readonly sent: SendRequest[]
  /** How the next requests are answered; default 200. */
  answer: (request: SendRequest) => SendResult | Promise<SendResult>
  /** The most requests that were under way together, to one url and in all. */
  readonly peak: { total: number; perUrl: number }
  readonly underWay: number
  /** From now on requests wait, until `letGo`. */
  hold(): void
  letGo(): void
  /** Answers the request that waits longest. */
  letGoOne(): void
  /** Requests that wait. */
  readonly held: number
}

export function createSender(): FakeSender {
  const flying = new Map<string, number>()
  const peak = { total: 0, perUrl: 0 }
  const sent: SendRequest[] = []
  let underWay = 0
  let holding = false
  let held: (() => void)[] = []

  const sender: FakeSender = {
    sent,
    peak,
    answer: () => answered(200),
    get underWay() {
      return underWay
    },
    get held() {
      return held.length
    },
    hold() {
      holding = true
    },
    letGo() {
      holding = false
      for (const go of held.splice(0)) go()
    },
    letGoOne() {
      const [go, ...others] = held
      held = others
      go?.()
    },
    async send(request) {
      sent.push(request)
      const same = (flying.get(request.url) ?? 0) + 1
      flying.set(request.url, same)
      underWay += 1
      peak.total = Math.max(peak.total, underWay)
      peak.perUrl = Math.max(peak.perUrl, same)
      if (holding) await new Promise<void>((resolve) => (held = [...held, resolve]))
      try {
        return await sender.answer(request)
      } finally {
        underWay -= 1
        flying.set(request.url, (flying.get(request.url) ?? 1) - 1)
      }
    },
  }
  return sender
}

import { createBacklog } from '../../lib/engine/backlog.ts'
import { createWebhookQueues } from '../../lib/engine/webhook-queues.ts'
import { createClockJumps } from '../../lib/engine/clock-jumps.ts'
import type { Claim, ClaimedDelivery, QueueHead } from '../../lib/engine/ports.ts'
import type { Target } from '../../lib/engine/targets.ts'
import { createClock, turn } from './clock.ts'

export const START = 1_000_000
export const LEASE = 30_000

/** What the store holds of a webhook. */
export const headOf = (
  webhook_id: string,
  first_due: number | null,
  retry_due: number | null = null,
) => ({ webhook_id, account_id: 'acc', first_due, retry_due }) satisfies QueueHead

/** A backlog over a store whose answers a test gives: nothing due, nothing claimed, until it says more. */
export function stageBacklog({ perWebhook = 4, total = 64 } = {}) {
  const clock = createClock(START)
  const queues = createWebhookQueues({ total, perWebhook })
  const claims: Claim[] = []
  const disclaimed: Claim[] = []
  const requested: (readonly string[] | undefined)[] = []
  const failures: unknown[] = []
  let queued = 0
  let tokens = 0
  const store = {
    claim: async (_claim: Claim): Promise<readonly ClaimedDelivery[]> => [],
    queueHeads: async (_ids: readonly string[] | undefined): Promise<readonly QueueHead[]> => [],
  }
  const recorder = { backpressure: false }
  const targets = { find: async (): Promise<Target | undefined> => undefined }
  const backlog = createBacklog({
    store: {
      claim(ask) {
        const claim = ask()
        claims.push(claim)
        return store.claim(claim)
      },
      queueHeads(ids) {
        requested.push(ids)
        return store.queueHeads(ids)
      },
      async disclaim(claim) {
        disclaimed.push(claim)
      },
    },
    targets: { find: () => targets.find() },
    queues,
    recorder,
    clock,
    clockJumps: createClockJumps(clock),
    lease: LEASE,
    newClaim: () => `claim${(tokens += 1)}`,
    queued: () => void (queued += 1),
    events: { claimFailed: (cause) => void failures.push(cause) },
  })
  return {
    backlog,
    clock,
    queues,
    claims,
    disclaimed,
    requested,
    failures,
    store,
    recorder,
    targets,
    get queued() {
      return queued
    },
    queue: (id: string) => queues.get(id, 'acc'),
    /** Notes work of a queue that is due after so many milliseconds. */
    note(id: string, after = 0, retry = false) {
      const queue = queues.get(id, 'acc')
      queues.addDue(queue, START + after, retry)
      return queue
    },
    /** Lets what is under way come to rest; no time passes. */
    rest: () => clock.advance(0),
    /** The same without timers, those that are due included. */
    async untimed() {
      for (let turns = 0; turns < 10; turns += 1) await turn()
    },
  }
}

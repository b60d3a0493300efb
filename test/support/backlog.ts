import { createBacklog } from '../../lib/engine/backlog.ts'
import { createLanes } from '../../lib/engine/lanes.ts'
import { createLeaps } from '../../lib/engine/leap.ts'
import type { Claim, ClaimedDelivery, LaneHead } from '../../lib/engine/ports.ts'
import type { Target } from '../../lib/engine/targets.ts'
import { createClock, turn } from './clock.ts'

export const START = 1_000_000
export const LEASE = 30_000

/** What the store holds of a webhook. */
export const headOf = (
  webhook_id: string,
  first_due: number | null,
  retry_due: number | null = null,
) => ({ webhook_id, account_id: 'acc', first_due, retry_due }) satisfies LaneHead

/** A backlog over a store whose answers a test gives: nothing due, nothing claimed, until it says more. */
export function stageBacklog({ perWebhook = 4, total = 64 } = {}) {
  const clock = createClock(START)
  const lanes = createLanes({ total, perWebhook })
  const claims: Claim[] = []
  const disclaimed: Claim[] = []
  const asked: (readonly string[] | undefined)[] = []
  const failures: unknown[] = []
  let queued = 0
  let tokens = 0
  const store = {
    claim: async (_claim: Claim): Promise<readonly ClaimedDelivery[]> => [],
    lanes: async (_ids: readonly string[] | undefined): Promise<readonly LaneHead[]> => [],
  }
  const recorder = { stuck: false }
  const targets = { find: async (): Promise<Target | undefined> => undefined }
  const backlog = createBacklog({
    store: {
      claim(ask) {
        const claim = ask()
        claims.push(claim)
        return store.claim(claim)
      },
      lanes(ids) {
        asked.push(ids)
        return store.lanes(ids)
      },
      async disclaim(claim) {
        disclaimed.push(claim)
      },
    },
    targets: { find: () => targets.find() },
    lanes,
    recorder,
    clock,
    leaps: createLeaps(clock),
    lease: LEASE,
    newClaim: () => `claim${(tokens += 1)}`,
    queued: () => void (queued += 1),
    events: { claimFailed: (cause) => void failures.push(cause) },
  })
  return {
    backlog,
    clock,
    lanes,
    claims,
    disclaimed,
    asked,
    failures,
    store,
    recorder,
    targets,
    get queued() {
      return queued
    },
    lane: (id: string) => lanes.get(id, 'acc'),
    /** Notes work of a lane that is due after so many milliseconds. */
    note(id: string, after = 0, retry = false) {
      const lane = lanes.get(id, 'acc')
      lanes.note(lane, START + after, retry)
      return lane
    },
    /** Lets what is under way come to rest; no time passes. */
    rest: () => clock.advance(0),
    /** The same without timers, those that are due included. */
    async untimed() {
      for (let turns = 0; turns < 10; turns += 1) await turn()
    },
  }
}

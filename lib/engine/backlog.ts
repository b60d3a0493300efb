import { isAgain } from '../delivery/state.ts'
import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { Lane, Lanes } from './lanes.ts'
import type { Leaps } from './leap.ts'
import type { Claim, ClaimedDelivery, Clock, EngineEvents, EngineStore, LaneHead } from './ports.ts'
import type { Recorder } from './recorder.ts'
import type { Target, Targets } from './targets.ts'

/** Claims work from the store when its queue has capacity, and queues it. */
export interface Backlog {
  /** Reads which queues contain work. */
  read(): Promise<void>
  /** Starts claiming. */
  start(): void
  /** Stops claiming; resolves once the claim in progress is processed. */
  stop(): Promise<void>
  /** Claims due work while there is capacity. */
  pump(): void
  /** Records committed work and claims it when it is due. */
  wake(lane: Lane, due: Instant, retry: boolean): void
  /** Claims more after a slot of this queue was freed. */
  freed(lane: Lane): void
  /** Reads the named queues, or all, again. */
  refresh(webhookIds: readonly string[] | undefined): Promise<void>
}

export interface BacklogOptions {
  readonly store: Pick<EngineStore, 'lanes' | 'claim' | 'disclaim'>
  readonly targets: Pick<Targets, 'find'>
  readonly lanes: Lanes
  readonly recorder: Pick<Recorder, 'stuck'>
  readonly clock: Clock
  readonly leaps: Leaps
  readonly lease: Millis
  /** Creates a unique fencing token for a claim. */
  readonly newClaim: () => string
  /** Called after deliveries were queued. */
  readonly queued: () => void
  readonly events?: Partial<EngineEvents>
}

const MAX_CLAIMED_LANES = 50
/** Deliveries per claim: bounds memory, since the sizes of their bodies are not known before. */
const MAX_CLAIMED = 500
const CLAIM_RETRY: Millis = SECOND
/** Upper bound, so that a change of the wall clock is noticed. */
const LONGEST_SLEEP: Millis = 5 * SECOND

export function createBacklog(options: BacklogOptions): Backlog {
  const { store, lanes, recorder, clock, leaps, lease, newClaim, queued } = options
  let running = false
  let claiming: Promise<void> | undefined
  let claimAgain = false
  let refreshing: Promise<void> | undefined
  /** Webhooks whose queues are to be read again, or all. */
  let stale: Set<string> | 'all' = new Set()
  /** When a search of all queues last found nothing to claim. */
  let lookedAt: Instant = 0
  /** Due work found no capacity: the next freed slot claims again. */
  let starved = false
  let cancelTimer = (): void => undefined
  /** A claim whose response was lost. Nobody sends the deliveries that it leased. */
  let lost: Claim | undefined

  function pump(): void {
    if (!running || recorder.stuck) return
    claimAgain = true
    claiming ??= claimWhileDue().finally(() => {
      claiming = undefined
      // A call may have come after the loop's last check.
      if (claimAgain) pump()
      else arm()
    })
  }

  async function claimWhileDue(): Promise<void> {
    try {
      while (claimAgain && running) {
        claimAgain = false
        while (await claimOnce());
      }
    } catch (cause) {
      options.events?.claimFailed?.(cause)
    }
  }

  async function claimOnce(): Promise<boolean> {
    if (!running || recorder.stuck) return false
    const now = clock.now()
    const room = lanes.left
    starved = room <= 0
    const turn = lanes.claimable(now, MAX_CLAIMED_LANES)
    if (turn.length === 0) {
      lookedAt = now
      return false
    }
    try {
      await claimFor(turn, Math.max(1, Math.ceil(Math.min(room, MAX_CLAIMED) / turn.length)))
    } catch (cause) {
      const again = { first_due: clock.now() + CLAIM_RETRY, retry_due: null }
      for (const lane of turn) lanes.learn(lane, again)
      throw cause
    }
    return true
  }

  async function disclaimLost(): Promise<void> {
    if (lost === undefined) return
    await store.disclaim(lost, clock.now())
    lost = undefined
  }

  async function claimFor(turn: readonly Lane[], share: number): Promise<void> {
    await shapeAll(turn)
    for (const lane of turn) lanes.forget(lane)
    await disclaimLost()
    const limits = new Map<Lane, number>()
    let asked: Claim | undefined
    const answer = store.claim(() => {
      const now = clock.now()
      leaps.look(now)
      for (const lane of turn) limits.set(lane, Math.max(0, Math.min(share, lanes.appetite(lane))))
      asked = {
        lanes: turn.map((lane) => ({
          webhook_id: lane.webhook_id,
          limit: limits.get(lane) ?? 0,
        })),
        now,
        lease_until: now + lease,
        // A wall clock that was set forward must not expire the claims of this process.
        renews: leaps.take(),
        token: newClaim(),
      }
      return asked
    })
    const claimed = await answer.catch((cause: unknown) => {
      if (asked?.renews === true) leaps.putBack()
      lost = asked
      throw cause
    })
    const short: Lane[] = []
    for (const lane of turn) {
      const got = claimed.filter(({ delivery }) => delivery.webhook_id === lane.webhook_id)
      lanes.enqueue(lane, got)
      const gaveAll = got.length > 0 && got.length === limits.get(lane)
      if (gaveAll) lanes.learn(lane, moreOf(got, asked?.now ?? 0))
      else short.push(lane)
    }
    queued()
    await learnHeads(short)
  }

  async function learnHeads(turn: readonly Lane[]): Promise<void> {
    if (turn.length === 0) return
    const heads = await store.lanes(turn.map(({ webhook_id }) => webhook_id))
    for (const lane of turn) {
      lanes.learn(
        lane,
        heads.find((head) => head.webhook_id === lane.webhook_id),
      )
    }
  }

  /** Reads the limits of each webhook before anything is claimed for it. */
  async function shapeAll(turn: readonly Lane[]): Promise<void> {
    await Promise.all(
      turn.map(async (lane) => {
        const target = await findTarget(lane)
        if (target !== undefined) lanes.shape(lane, target.webhook)
      }),
    )
  }

  async function findTarget({ account_id, webhook_id }: Lane): Promise<Target | undefined> {
    try {
      return await options.targets.find(account_id, webhook_id)
    } catch (cause) {
      options.events?.claimFailed?.(cause)
      return undefined
    }
  }

  /** All calls during a read share one more read. */
  async function readWhileStale(): Promise<void> {
    while (running && (stale === 'all' || stale.size > 0)) {
      const named = stale === 'all' ? undefined : [...stale]
      stale = new Set()
      await readLanes(named)
      pump()
    }
  }

  async function readLanes(webhookIds: readonly string[] | undefined): Promise<void> {
    for (const head of await store.lanes(webhookIds)) {
      const lane = lanes.get(head.webhook_id, head.account_id)
      // The response of a claim in progress is newer.
      if (!lane.asked) lanes.learn(lane, head)
    }
  }

  /**
   * Sleeps until the next due time after the last search. Work that was due then and had no capacity
   * waits for a slot instead; work that became due since is claimed at once.
   */
  function arm(): void {
    if (!running || claiming !== undefined) return
    cancelTimer()
    const now = clock.now()
    const due = lanes.nextDue(Math.min(lookedAt, now))
    if (due !== null)
      cancelTimer = clock.after(Math.min(Math.max(0, due - now), LONGEST_SLEEP), pump)
  }

  return {
    read: () => readLanes(undefined),
    start() {
      running = true
      pump()
    },
    async stop() {
      running = false
      await claiming
      cancelTimer()
      await disclaimLost().catch((cause: unknown) => options.events?.claimFailed?.(cause))
    },
    pump,
    wake(lane, due, retry) {
      lanes.note(lane, due, retry)
      if (due <= clock.now()) pump()
      else arm()
    },
    freed(lane) {
      const due = Math.min(lane.first_due ?? Infinity, lane.retry_due ?? Infinity)
      if (starved || due <= clock.now()) pump()
    },
    async refresh(webhookIds) {
      if (webhookIds === undefined) stale = 'all'
      else if (stale !== 'all') for (const id of webhookIds) stale.add(id)
      refreshing ??= readWhileStale().finally(() => {
        refreshing = undefined
      })
      await refreshing
    },
  }
}

/**
 * The assumed head of a queue that returned as many deliveries as the claim allowed: more work is due.
 * Retries among them mean that no first attempt is left.
 */
function moreOf(
  claimed: readonly ClaimedDelivery[],
  now: Instant,
): Pick<LaneHead, 'first_due' | 'retry_due'> {
  const retries = claimed.some(({ delivery }) => isAgain(delivery.trigger))
  return { first_due: retries ? null : now, retry_due: retries ? now : null }
}

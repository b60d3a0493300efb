import { isAgain } from '../delivery/state.ts'
import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { Lane, Lanes } from './lanes.ts'
import type { Leaps } from './leap.ts'
import type { Claim, ClaimedDelivery, Clock, EngineEvents, EngineStore, LaneHead } from './ports.ts'
import type { Recorder } from './recorder.ts'
import type { Target, Targets } from './targets.ts'

/** Work that waits in the store: found, claimed when its lane has room, and queued. */
export interface Backlog {
  /** Reads which lanes hold work. */
  read(): Promise<void>
  /** Begins to claim. */
  start(): void
  /** Claims nothing more; resolves once the claim under way was taken in. */
  stop(): Promise<void>
  /** Claims what is due, if anything is, as long as there is room for it. */
  pump(): void
  /** Notes work that was committed. */
  wake(lane: Lane, due: Instant, retry: boolean): void
  /** A slot of this lane was freed. */
  freed(lane: Lane): void
  /** Reads the lanes that are named, or all, anew. */
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
  /** Makes the fencing token of a claim; no two are the same. */
  readonly newClaim: () => string
  /** Called when something was queued. */
  readonly queued: () => void
  readonly events?: Partial<EngineEvents>
}

const MAX_CLAIMED_LANES = 50
/** Deliveries of one claim: how large their bodies are is not known before. */
const MAX_CLAIMED = 500
const CLAIM_RETRY: Millis = SECOND
/** The calendar may be set meanwhile: it is looked at again this often. */
const LONGEST_SLEEP: Millis = 5 * SECOND

export function createBacklog(options: BacklogOptions): Backlog {
  const { store, lanes, recorder, clock, leaps, lease, newClaim, queued } = options
  let running = false
  let claiming: Promise<void> | undefined
  let claimAgain = false
  let refreshing: Promise<void> | undefined
  /** Lanes to be read anew, or all of them. */
  let stale: Set<string> | 'all' = new Set()
  /** When the lanes were last looked through and nothing was left to claim. */
  let lookedAt: Instant = 0
  /** Work is due that found no room in the queue: the next slot that is freed looks again. */
  let starved = false
  let cancelTimer = (): void => undefined
  /** A claim whose answer never came: what it took is held by it, and nobody sends that. */
  let lost: Claim | undefined

  function pump(): void {
    if (!running || recorder.stuck) return
    claimAgain = true
    claiming ??= claimWhileDue().finally(() => {
      claiming = undefined
      // Whoever called since the loop's last look is not lost.
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
        // Set forward, the calendar has ended no claim: what this process holds is not claimed again.
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

  /** What a webhook's owner set is known before anything is claimed for it. */
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

  /** Whoever asks while lanes are being read gets one more reading, however many they are. */
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
      // A lane that is being asked about learns more from its own answer.
      if (!lane.asked) lanes.learn(lane, head)
    }
  }

  /**
   * Sleeps until the next due time; what was due at the last look and had no room waits for a slot
   * instead. What has become due since that look is not slept over.
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
 * What a lane that gave as much as was asked of it is taken to hold: more that is due. Retries among
 * them say that no first attempt is left.
 */
function moreOf(
  claimed: readonly ClaimedDelivery[],
  now: Instant,
): Pick<LaneHead, 'first_due' | 'retry_due'> {
  const retries = claimed.some(({ delivery }) => isAgain(delivery.trigger))
  return { first_due: retries ? null : now, retry_due: retries ? now : null }
}

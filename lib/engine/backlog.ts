import { isRepeat } from '../delivery/state.ts'
import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { WebhookQueue, WebhookQueues } from './webhook-queues.ts'
import type { ClockJumps } from './clock-jumps.ts'
import type {
  Claim,
  ClaimedDelivery,
  Clock,
  EngineEvents,
  EngineStore,
  QueueHead,
} from './ports.ts'
import type { Recorder } from './recorder.ts'
import type { Target, Targets } from './targets.ts'

/** Claims work from the store when its queue has capacity, and queues it. */
export interface Backlog {
  /** Whether no claim is in progress. */
  readonly isIdle: boolean
  /** Reads which queues contain work. */
  read(): Promise<void>
  /** Starts claiming. */
  start(): void
  /** Stops claiming; resolves once the claim in progress is processed. */
  stop(): Promise<void>
  /** Claims due work while there is capacity. */
  pump(): void
  /** Records committed work and claims it when it is due. */
  notify(queue: WebhookQueue, due: Instant, retry: boolean): void
  /** Claims more after a slot of this queue was freed. */
  slotFreed(queue: WebhookQueue): void
  /** Reads the named queues, or all, again. */
  refresh(webhookIds: readonly string[] | undefined): Promise<void>
}

export interface BacklogOptions {
  readonly store: Pick<EngineStore, 'queueHeads' | 'claim' | 'disclaim'>
  readonly targets: Pick<Targets, 'find'>
  readonly queues: WebhookQueues
  readonly recorder: Pick<Recorder, 'backpressure'>
  readonly clock: Clock
  readonly clockJumps: ClockJumps
  readonly lease: Millis
  /** Creates a unique fencing token for a claim. */
  readonly newClaim: () => string
  /** Called after deliveries were queued. */
  readonly queued: () => void
  readonly events?: Partial<EngineEvents>
}

const MAX_CLAIMED_QUEUES = 50
/** Deliveries per claim: bounds memory, since the sizes of their bodies are not known before. */
const MAX_CLAIMED = 500
const CLAIM_RETRY: Millis = SECOND
/** Upper bound, so that a change of the wall clock is noticed. */
const MAX_SLEEP: Millis = 5 * SECOND

export function createBacklog(options: BacklogOptions): Backlog {
  const { store, queues, recorder, clock, clockJumps, lease, newClaim, queued } = options
  let running = false
  let claiming: Promise<void> | undefined
  let claimAgain = false
  let refreshing: Promise<void> | undefined
  /** Webhooks whose queues are to be read again, or all. */
  let stale: Set<string> | 'all' = new Set()
  /** When a search of all queues last found nothing to claim. */
  let searchedAt: Instant = 0
  /** Due work found no capacity: the next freed slot claims again. */
  let starved = false
  let cancelTimer = (): void => undefined
  /** A claim whose response was lost. Nobody sends the deliveries that it leased. */
  let lostClaim: Claim | undefined

  function pump(): void {
    if (!running || recorder.backpressure) return
    claimAgain = true
    claiming ??= claimWhileDue().finally(() => {
      claiming = undefined
      // A call may have come after the loop's last check.
      if (claimAgain) pump()
      else sleep()
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
    if (!running || recorder.backpressure) return false
    const now = clock.now()
    const capacity = queues.capacity
    starved = capacity <= 0
    const selected = queues.claimable(now, MAX_CLAIMED_QUEUES)
    if (selected.length === 0) {
      searchedAt = now
      return false
    }
    try {
      await claimFor(
        selected,
        Math.max(1, Math.ceil(Math.min(capacity, MAX_CLAIMED) / selected.length)),
      )
    } catch (cause) {
      const again = { first_due: clock.now() + CLAIM_RETRY, retry_due: null }
      for (const queue of selected) queues.recordHead(queue, again)
      throw cause
    }
    return true
  }

  async function disclaimLost(): Promise<void> {
    if (lostClaim === undefined) return
    await store.disclaim(lostClaim, clock.now())
    lostClaim = undefined
  }

  async function claimFor(selected: readonly WebhookQueue[], share: number): Promise<void> {
    await configureAll(selected)
    for (const queue of selected) queues.startLoading(queue)
    await disclaimLost()
    const limits = new Map<WebhookQueue, number>()
    let requested: Claim | undefined
    const response = store.claim(() => {
      const now = clock.now()
      clockJumps.observe(now)
      for (const queue of selected)
        limits.set(queue, Math.max(0, Math.min(share, queues.prefetchBudget(queue))))
      requested = {
        queues: selected.map((queue) => ({
          webhook_id: queue.webhook_id,
          limit: limits.get(queue) ?? 0,
        })),
        now,
        lease_until: now + lease,
        // A wall clock that was set forward must not expire the claims of this process.
        renews: clockJumps.take(),
        token: newClaim(),
      }
      return requested
    })
    const claimed = await response.catch((cause: unknown) => {
      if (requested?.renews === true) clockJumps.restore()
      lostClaim = requested
      throw cause
    })
    const drained: WebhookQueue[] = []
    for (const queue of selected) {
      const taken = claimed.filter(({ delivery }) => delivery.webhook_id === queue.webhook_id)
      queues.enqueue(queue, taken)
      const isFull = taken.length > 0 && taken.length === limits.get(queue)
      if (isFull) queues.recordHead(queue, assumedHead(taken, requested?.now ?? 0))
      else drained.push(queue)
    }
    queued()
    await readHeads(drained)
  }

  async function readHeads(selected: readonly WebhookQueue[]): Promise<void> {
    if (selected.length === 0) return
    const heads = await store.queueHeads(selected.map(({ webhook_id }) => webhook_id))
    for (const queue of selected) {
      queues.recordHead(
        queue,
        heads.find((head) => head.webhook_id === queue.webhook_id),
      )
    }
  }

  /** Reads the limits of each webhook before anything is claimed for it. */
  async function configureAll(selected: readonly WebhookQueue[]): Promise<void> {
    await Promise.all(
      selected.map(async (queue) => {
        const target = await findTarget(queue)
        if (target !== undefined) queues.configure(queue, target.webhook)
      }),
    )
  }

  async function findTarget({ account_id, webhook_id }: WebhookQueue): Promise<Target | undefined> {
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
      await readQueues(named)
      pump()
    }
  }

  async function readQueues(webhookIds: readonly string[] | undefined): Promise<void> {
    for (const head of await store.queueHeads(webhookIds)) {
      const queue = queues.get(head.webhook_id, head.account_id)
      // The response of a claim in progress is newer.
      if (!queue.loading) queues.recordHead(queue, head)
    }
  }

  /**
   * Sleeps until the next due time after the last search. Work that was due then and had no capacity
   * waits for a slot instead; work that became due since is claimed at once.
   */
  function sleep(): void {
    if (!running || claiming !== undefined) return
    cancelTimer()
    const now = clock.now()
    const due = queues.nextDue(Math.min(searchedAt, now))
    if (due !== null) cancelTimer = clock.after(Math.min(Math.max(0, due - now), MAX_SLEEP), pump)
  }

  return {
    get isIdle() {
      return claiming === undefined
    },
    read: () => readQueues(undefined),
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
    notify(queue, due, retry) {
      queues.addDue(queue, due, retry)
      if (due <= clock.now()) pump()
      else sleep()
    },
    slotFreed(queue) {
      const due = Math.min(queue.first_due ?? Infinity, queue.retry_due ?? Infinity)
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
function assumedHead(
  claimed: readonly ClaimedDelivery[],
  now: Instant,
): Pick<QueueHead, 'first_due' | 'retry_due'> {
  const retries = claimed.some(({ delivery }) => isRepeat(delivery.trigger))
  return { first_due: retries ? null : now, retry_due: retries ? now : null }
}

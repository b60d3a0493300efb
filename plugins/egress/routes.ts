import type { CanonicalTarget } from '../../lib/egress/url.ts'
import { MINUTE, SECOND, type Millis } from '../../lib/time.ts'
import { Route, type RouteContext } from './route.ts'

const MAX_ROUTES = 2000
const ROUTE_IDLE: Millis = MINUTE
const SWEEP_INTERVAL: Millis = 15 * SECOND
/** Closing connections are still counted for a moment. */
const SHRINK_INTERVAL: Millis = 100

/**
 * The routes of a client, one per origin.
 *
 * An idle connection is an open file: at `maxSockets`, the least recently used routes close theirs until half
 * are left.
 */
export class Routes {
  readonly #context: RouteContext
  readonly #maxSockets: number
  readonly #routes = new Map<string, Route>()
  readonly #sweeper: NodeJS.Timeout
  #shrunkAt = Number.NEGATIVE_INFINITY

  constructor(context: RouteContext, maxSockets: number) {
    this.#context = context
    this.#maxSockets = maxSockets
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_INTERVAL)
    this.#sweeper.unref()
  }

  to(target: CanonicalTarget, now: number): Route {
    if (this.#context.sockets.size >= this.#maxSockets) this.#shrink(now)
    const known = this.#routes.get(target.origin)
    if (known) return known
    const route = new Route(target, this.#context)
    if (this.#routes.size >= MAX_ROUTES) this.#evict()
    this.#routes.set(target.origin, route)
    return route
  }

  async destroy(): Promise<void> {
    clearInterval(this.#sweeper)
    await Promise.all([...this.#routes.values()].map((route) => route.destroy()))
    this.#routes.clear()
  }

  #shrink(now: number): void {
    if (now - this.#shrunkAt < SHRINK_INTERVAL) return
    this.#shrunkAt = now
    let surplus = this.#context.sockets.size - this.#maxSockets / 2
    for (const route of [...this.#routes.values()].sort((a, b) => a.usedAt - b.usedAt)) {
      if (surplus <= 0) return
      if (route.isPending) continue
      surplus -= route.connections
      route.retire()
    }
  }

  /** Drops the oldest route that is not resolving: one that resolves is about to open a pool. */
  #evict(): void {
    for (const [origin, route] of this.#routes) {
      if (route.isPending) continue
      this.#drop(origin, route)
      return
    }
  }

  #sweep(): void {
    const before = this.#context.clock() - ROUTE_IDLE
    for (const [origin, route] of this.#routes) {
      if (route.usedAt < before && !route.isPending) this.#drop(origin, route)
    }
  }

  #drop(origin: string, route: Route): void {
    route.retire()
    this.#routes.delete(origin)
  }
}

import type { EngineStore } from '../../lib/engine/ports.ts'

type Verb = Exclude<keyof EngineStore, 'changes' | 'claimant' | 'announce'>

/** The engine's store with its calls counted; a verb can be made to fail or to wait. */
export interface WatchedStore {
  readonly store: EngineStore
  readonly calls: Record<Verb, number>
  /** Before a call: what it throws fails the call, what it awaits delays it. */
  readonly before: Partial<Record<Verb, () => void | Promise<void>>>
  /** After a call took effect: what it throws leaves the caller in the dark. */
  readonly after: Partial<Record<Verb, () => void | Promise<void>>>
  readonly underWay: number
}

export function watchStore(store: EngineStore): WatchedStore {
  const calls = {
    write: 0,
    publish: 0,
    webhooksOf: 0,
    recover: 0,
    queueHeads: 0,
    claim: 0,
    release: 0,
    disclaim: 0,
    settle: 0,
  }
  const before: WatchedStore['before'] = {}
  const after: WatchedStore['after'] = {}
  let underWay = 0

  async function call<T>(verb: Verb, run: () => Promise<T>): Promise<T> {
    calls[verb] += 1
    underWay += 1
    try {
      if (before[verb] !== undefined) await before[verb]()
      const result = await run()
      if (after[verb] !== undefined) await after[verb]()
      return result
    } finally {
      underWay -= 1
    }
  }

  return {
    calls,
    before,
    after,
    get underWay() {
      return underWay
    },
    store: {
      changes: store.changes,
      claimant: store.claimant,
      write: (work) => call('write', () => store.write(work)),
      publish: (build) => call('publish', () => store.publish(build)),
      webhooksOf: (accountId) => call('webhooksOf', () => store.webhooksOf(accountId)),
      recover: (now) => call('recover', () => store.recover(now)),
      queueHeads: (ids) => call('queueHeads', () => store.queueHeads(ids)),
      claim: (claim) => call('claim', () => store.claim(claim)),
      release: (claims, now) => call('release', () => store.release(claims, now)),
      disclaim: (claim, now) => call('disclaim', () => store.disclaim(claim, now)),
      settle: (settlement) => call('settle', () => store.settle(settlement)),
    },
  }
}

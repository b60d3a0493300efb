import type { Store, StoreTx } from './contract.ts'
import { accountReads, accountWrites } from './memory/accounts.ts'
import { deliveryReads, deliveryWrites } from './memory/deliveries.ts'
import { claim, lanes, recover, release, settle } from './memory/dispatch.ts'
import { eventReads, eventWrites, insertGroup } from './memory/events.ts'
import { keyReads, keyWrites } from './memory/keys.ts'
import { PURGES } from './memory/purge.ts'
import { requestReads, requestWrites } from './memory/requests.ts'
import type { Reading, State } from './memory/state.ts'
import { copyState, emptyState } from './memory/state.ts'
import { webhookReads, webhookWrites } from './memory/webhooks.ts'
import { createTurns } from './turns.ts'

/**
 * A store in the memory of one process, for tests and simulations: the shortest one that keeps the
 * contract.
 *
 * A unit of work writes to a draft, which becomes the state when it commits and is dropped when not.
 *
 * @example
 * const store = createMemoryStore()
 * await store.write((tx) => tx.accounts.putMetaOnce('brand', 'service')) // 'service'
 */
export function createMemoryStore(): Store {
  let committed = emptyState()
  const turns = createTurns()
  const now = <T>(act: (state: State) => T): Promise<T> => turns.take(async () => act(committed))

  async function commit<T>(work: (draft: State) => Promise<T>): Promise<T> {
    const draft = copyState(committed)
    const result = await work(draft)
    committed = draft
    return result
  }

  const reads = readsOf(() => committed)
  return {
    ...reads,
    webhooksOf: (accountId) => reads.webhooks.ofAccount(accountId),
    publish: (build) => turns.take(() => commit(async (draft) => insertGroup(draft, build()))),
    recover: (at) => now((state) => recover(state, at)),
    lanes: async (webhookIds) => lanes(committed, webhookIds),
    claim: (wanted) => now((state) => claim(state, wanted)),
    release: (claims, at) => now((state) => release(state, claims, at)),
    settle: (settlement) => now((state) => settle(state, settlement)),
    write: (work) =>
      turns.take(async () => {
        const afterCommit: (() => void)[] = []
        const result = await commit((draft) => work(unitOfWork(draft, afterCommit)))
        for (const run of afterCommit) run()
        return result
      }),
    purge: (kind, before, limit) => now((state) => PURGES[kind](state, before, limit)),
    ping: async () => undefined,
    close: () => turns.idle(),
  }
}

function readsOf(state: Reading) {
  return {
    accounts: accountReads(state),
    keys: keyReads(state),
    webhooks: webhookReads(state),
    events: eventReads(state),
    deliveries: deliveryReads(state),
    requests: requestReads(state),
  }
}

function unitOfWork(draft: State, afterCommit: (() => void)[]): StoreTx {
  const webhooks = webhookWrites(draft)
  const events = eventWrites(draft)
  return {
    accounts: accountWrites(draft),
    keys: keyWrites(draft),
    webhooks,
    events,
    deliveries: deliveryWrites(draft),
    requests: requestWrites(draft),
    webhooksOf: (accountId) => webhooks.ofAccount(accountId),
    insertPublished: (group) => events.insert(group),
    disableWebhook: (id, reason, at) => webhooks.disable(id, reason, at),
    markFailing: (id, at) => webhooks.markFailing(id, at),
    afterCommit(run) {
      afterCommit.push(run)
    },
  }
}

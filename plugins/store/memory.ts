import { declareArguments } from '../../lib/internal/arguments.ts'
import type { Change, OwnChanges } from '../../lib/engine/changes.ts'
import { createChanges } from '../../lib/engine/changes.ts'
import type { Store, StoreTx } from './contract.ts'
import { waitUnlessTaken } from './hold.ts'
import type { ChangeSink } from './contract/changes.ts'
import { accountReads, accountWrites } from './memory/accounts.ts'
import { deliveryReads, deliveryWrites } from './memory/deliveries.ts'
import { claim, disclaim, queueHeads, recover, release, settle } from './memory/dispatch.ts'
import { eventReads, eventWrites, insertGroup } from './memory/events.ts'
import { keyReads, keyWrites } from './memory/keys.ts'
import { PURGES } from './memory/purge.ts'
import { requestReads, requestWrites } from './memory/requests.ts'
import { encryptedSecretReads, encryptedSecretWrites } from './memory/encrypted-secrets.ts'
import type { Reading, State } from './memory/state.ts'
import { copyState, emptyState } from './memory/state.ts'
import { webhookReads, webhookWrites } from './memory/webhooks.ts'
import { createTurns } from './turns.ts'

/** Prefix of claim tokens; no other process can access the store. */
const CLAIMANT = 'memory'

const readStore = declareArguments('createMemoryStore', {})

/**
 * A store in the memory of one process, for tests and simulations: the shortest one that satisfies the
 * contract.
 *
 * A unit of work writes to a draft, which becomes the state when it commits and is dropped when not.
 *
 * @example
 * const store = createMemoryStore()
 * await store.write((tx) => tx.accounts.putMetaOnce('brand', 'service')) // 'service'
 */
export function createMemoryStore(...args: readonly []): Store & { readonly changes: OwnChanges } {
  readStore(args)
  let committed = emptyState()
  const turns = createTurns()
  const changes = createChanges()
  const now = <T>(act: (state: State) => T): Promise<T> => turns.take(async () => act(committed))

  async function commit<T>(work: (draft: State) => Promise<T>): Promise<T> {
    const draft = copyState(committed)
    const result = await work(draft)
    committed = draft
    return result
  }

  const { webhooksOf, ...reads } = readsOf(() => committed)
  return {
    ...reads,
    changes,
    claimant: CLAIMANT,
    webhooksOf,
    publish: (build) => turns.take(() => commit(async (draft) => insertGroup(draft, build()))),
    recover: (at) => now((state) => recover(state, at, CLAIMANT)),
    queueHeads: async (webhookIds) => queueHeads(committed, webhookIds),
    claim: (ask) => now((state) => claim(state, ask(), CLAIMANT)),
    release: (claims, at) => now((state) => release(state, claims, at)),
    disclaim: (wanted, at) => now((state) => disclaim(state, wanted, at)),
    settle: (attempts) => now((state) => settle(state, attempts)),
    async write(work, options = {}) {
      const { result, applied } = await turns.take(async () => {
        const afterCommit: (() => void)[] = []
        const made: Change[] = []
        const result = await commit((draft) => work(unitOfWork(draft, made, afterCommit)))
        const applied = changes.emit(...made)
        for (const run of afterCommit) run()
        return { result, applied }
      })
      await waitUnlessTaken(applied, options)
      return result
    },
    purge: (kind, before, limit) => now((state) => PURGES[kind](state, before, limit)),
    ping: async () => undefined,
    close: () => turns.idle(),
  }
}

function readsOf(state: Reading) {
  const { webhooksOf, ...webhooks } = webhookReads(state)
  return {
    webhooksOf,
    accounts: accountReads(state),
    keys: keyReads(state),
    webhooks,
    events: eventReads(state),
    deliveries: deliveryReads(state),
    requests: requestReads(state),
    encryptedSecrets: encryptedSecretReads(state),
  }
}

function unitOfWork(draft: State, changes: ChangeSink, afterCommit: (() => void)[]): StoreTx {
  const { webhooksOf, disableWebhook, markFailing, ...webhooks } = webhookWrites(draft, changes)
  return {
    accounts: accountWrites(draft, changes),
    keys: keyWrites(draft, changes),
    webhooks,
    events: eventWrites(draft, changes),
    deliveries: deliveryWrites(draft),
    requests: requestWrites(draft),
    encryptedSecrets: encryptedSecretWrites(draft),
    webhooksOf,
    insertPublished: async (group) => insertGroup(draft, group),
    disableWebhook,
    markFailing,
    afterCommit(run) {
      afterCommit.push(run)
    },
  }
}

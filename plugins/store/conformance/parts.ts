/** What cases of the store run in another process. */
import type { Instant } from '../../../lib/time.ts'
import type { Part } from '../../other-process.ts'
import type { Store } from '../contract.ts'
import { changeEverything } from './changes.ts'
import { idsOf, publicationOf, sampleClaim, sampleDelivery } from './samples.ts'

const FOREVER = new Promise<never>(() => undefined)

/** Ids of all that is claimed for a token, a few at a time. */
export async function claimAll(
  store: Store,
  { now, token }: { readonly now: Instant; readonly token: string },
): Promise<readonly string[]> {
  const claim = sampleClaim(now, { queues: [{ webhook_id: 'wh_1', limit: 3 }], token })
  const ids: string[] = []
  for (;;) {
    const claimed = idsOf(await store.claim(claim))
    if (claimed.length === 0) return ids
    ids.push(...claimed)
  }
}

/** Publishes events with these ids, one at a time; resolves to those that were stored. */
export async function publishAll(store: Store, ids: readonly string[]): Promise<readonly string[]> {
  const stored: string[] = []
  for (const id of ids) {
    const { event, deliveries } = publicationOf(sampleDelivery(id))
    const publication = { event: { ...event, supplied: true }, deliveries }
    if ((await store.publish(() => [publication]))[0] === 'stored') stored.push(id)
  }
  return stored
}

const claim: Part<Store> = async (store, input, say) => {
  await say('open')
  await say(await claimAll(store, input))
}

const publish: Part<Store> = async (store, ids: readonly string[], say) => {
  await say('open')
  await say(await publishAll(store, ids))
}

/** The unit stays open until the process is killed. */
const begin: Part<Store> = (store, _, say) =>
  store.write(async (tx) => {
    await changeEverything(tx)
    await say('changed')
    await FOREVER
  })

/** The process stays until it is killed. */
const commit: Part<Store> = async (store, _, say) => {
  await store.write(changeEverything)
  await say('committed')
  await FOREVER
}

export const PARTS = { claim, publish, begin, commit }

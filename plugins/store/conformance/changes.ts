import type { Store, StoreTx } from '../contract.ts'
import {
  ACCOUNT,
  BORN,
  insertWebhooks,
  publicationOf,
  publishDeliveries,
  sampleAccount,
  sampleDelivery,
  sampleKey,
  sampleWebhook,
} from './samples.ts'

/** Changes something of every noun. */
export async function changeEverything(tx: StoreTx): Promise<void> {
  await tx.accounts.insert(sampleAccount())
  await tx.accounts.putMetaOnce('brand', 'service')
  await tx.keys.insert(sampleKey('key_1'))
  await tx.disableWebhook('wh_1', 'manual', BORN)
  await tx.webhooks.insert(sampleWebhook('wh_2'))
  await tx.insertPublished([publicationOf(sampleDelivery('d2'))])
  await tx.deliveries.requestRetry('d1', BORN)
}

/** What others see of it. */
export async function look(
  store: Pick<StoreTx | Store, 'accounts' | 'keys' | 'webhooksOf' | 'events'>,
) {
  return {
    account: (await store.accounts.get(ACCOUNT)) !== undefined,
    meta: await store.accounts.meta('brand'),
    key: (await store.keys.findChain('hash of key_1')) !== undefined,
    webhooks: (await store.webhooksOf(ACCOUNT)).map(({ id, status }) => `${id} ${status}`),
    event: (await store.events.get(ACCOUNT, 'evt_d2')) !== undefined,
  }
}

export const BEFORE = {
  account: false,
  meta: undefined,
  key: false,
  webhooks: ['wh_1 active'],
  event: false,
}

export const AFTER = {
  account: true,
  meta: 'service',
  key: true,
  webhooks: ['wh_1 disabled', 'wh_2 active'],
  event: true,
}

/** Opens the store with a webhook and a skipped delivery, which those changes need. */
export async function openWithOne({ open }: { open(): Promise<Store> }): Promise<Store> {
  const store = await open()
  await insertWebhooks(store, sampleWebhook('wh_1'))
  await publishDeliveries(store, sampleDelivery('d1', { status: 'skipped' }))
  return store
}

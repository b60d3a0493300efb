import assert from 'node:assert/strict'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import type { Store } from '../contract.ts'
import type { EncryptedKind } from '../contract/encrypted-secrets.ts'
import { ENCRYPTED_NAMES } from '../contract/encrypted-secrets.ts'
import type { StoreCase } from './harness.ts'
import { openRacers } from './harness.ts'
import { ACCOUNT, BORN, insertWebhooks, sampleWebhook } from './samples.ts'

const [CHECK = ''] = ENCRYPTED_NAMES

/** As a keyring encrypts, with every character that base64 has. */
const under = (keyId: string, content: string): string => `v1.${keyId}.${content}+/==`

const secretOf = (id: string, encrypted: string): WebhookRecord['secrets'][number] => ({
  id,
  encrypted,
  display: 'whsec_x…',
  created_at: BORN,
  not_after: null,
})

/** Three secrets of webhooks, headers, and the named value; most under `k1`. */
async function fill(store: Store): Promise<void> {
  await insertWebhooks(
    store,
    sampleWebhook('wh_1', {
      secrets: [secretOf('s2', under('k_1', 'b')), secretOf('s1', under('k1', 'a'))],
      headers: { names: ['X-"Quoted"'], encrypted: under('k1', 'h') },
    }),
    sampleWebhook('wh_2', { secrets: [secretOf('s3', under('k2', 'c'))], headers: null }),
  )
  await store.write((tx) => tx.accounts.putMetaOnce(CHECK, under('k1', 'check')))
  await store.write((tx) => tx.accounts.putMetaOnce('brand', 'v1.k1.service'))
}

const all = { after: '', limit: 10 }

const reencrypt = (
  store: Store,
  kind: EncryptedKind,
  ...texts: readonly { readonly id: string; readonly from: string; readonly to: string }[]
): Promise<number> => store.write((tx) => tx.encryptedSecrets.reencrypt(kind, texts))

export const encryptedSecretCases: readonly StoreCase[] = [
  {
    name: 'encryptedSecrets: what is encrypted is counted by master key, and kept answers while they are kept',
    async run({ open }) {
      const store = await open()
      assert.deepEqual(await store.encryptedSecrets.count(BORN), [])
      await fill(store)
      const answers = [
        ['a', BORN, 'k1'],
        ['b', BORN + 5, 'k1'],
        ['c', BORN + 9, 'k1'],
      ] as const
      await store.write(async (tx) => {
        for (const [key, expires_at, keyId] of answers) {
          const fingerprint = under(keyId, key)
          const record = { scope: 's', key, fingerprint, answer: null, created_at: BORN - 1 }
          await tx.requests.claimIdempotency({ ...record, expires_at })
        }
      })
      const counts = await store.encryptedSecrets.count(BORN)
      const shown = counts.map(({ kind, key_id, count, until }) =>
        [key_id, kind, count, until].join(' '),
      )
      assert.deepEqual(shown.sort(), [
        `k1 kept_answer 2 ${BORN + 9}`,
        'k1 named_value 1 ',
        'k1 webhook_headers 1 ',
        'k1 webhook_secret 1 ',
        'k2 webhook_secret 1 ',
        'k_1 webhook_secret 1 ',
      ])
    },
  },
  {
    name: 'encryptedSecrets: what is encrypted elsewhere is listed by id, page by page',
    async run({ open }) {
      const store = await open()
      await fill(store)
      const idsOf = async (kind: EncryptedKind, keyId: string, page = all) =>
        (await store.encryptedSecrets.encryptedElsewhere(kind, keyId, page)).map(({ id }) => id)
      assert.deepEqual(await idsOf('webhook_secret', 'k1'), ['s2', 's3'])
      assert.deepEqual(await idsOf('webhook_secret', 'k3'), ['s1', 's2', 's3'])
      assert.deepEqual(await idsOf('webhook_secret', 'k3', { after: '', limit: 2 }), ['s1', 's2'])
      assert.deepEqual(await idsOf('webhook_secret', 'k3', { after: 's2', limit: 2 }), ['s3'])
      assert.deepEqual(
        await store.encryptedSecrets.encryptedElsewhere('webhook_headers', 'k2', all),
        [{ id: 'wh_1', encrypted: under('k1', 'h') }],
      )
      assert.deepEqual(await idsOf('webhook_headers', 'k1'), [])
      assert.deepEqual(await store.encryptedSecrets.encryptedElsewhere('named_value', 'k2', all), [
        { id: CHECK, encrypted: under('k1', 'check') },
      ])
    },
  },
  {
    name: 'encryptedSecrets: a text is replaced where it still is, and nothing beside it changes',
    async run({ open }) {
      const store = await open()
      await fill(store)
      const before = await store.webhooks.get(ACCOUNT, 'wh_1')
      assert.equal(
        await reencrypt(
          store,
          'webhook_secret',
          { id: 's1', from: under('k1', 'a'), to: under('k2', 'A') },
          { id: 's2', from: under('k_1', 'B'), to: under('k2', 'B') },
          { id: 's9', from: under('k1', 'a'), to: under('k2', 'A') },
        ),
        1,
      )
      const headers = { id: 'wh_1', from: under('k1', 'h'), to: under('k2', 'H') }
      assert.equal(await reencrypt(store, 'webhook_headers', headers), 1)
      assert.equal(await reencrypt(store, 'webhook_headers', headers), 0)
      assert.equal(await reencrypt(store, 'webhook_headers', { ...headers, id: 'wh_2' }), 0)
      const check = { id: CHECK, from: under('k1', 'check'), to: under('k2', 'check') }
      assert.equal(await reencrypt(store, 'named_value', check), 1)
      assert.equal(await reencrypt(store, 'named_value', { ...check, id: 'brand' }), 0)
      assert.equal(await reencrypt(store, 'webhook_secret'), 0)

      assert.deepEqual(await store.webhooks.get(ACCOUNT, 'wh_1'), {
        ...before,
        headers: { names: ['X-"Quoted"'], encrypted: under('k2', 'H') },
        secrets: [secretOf('s2', under('k_1', 'b')), secretOf('s1', under('k2', 'A'))],
      })
      assert.equal(await store.accounts.meta(CHECK), under('k2', 'check'))
      assert.equal(await store.accounts.meta('brand'), 'v1.k1.service')
    },
  },
  {
    name: 'encryptedSecrets: of racers that replace the same texts each text has one winner',
    async run(harness) {
      const [one, other] = await openRacers(harness)
      const ids = Array.from({ length: 20 }, (_, at) => `r${String(at).padStart(2, '0')}`)
      const secrets = ids.map((id) => secretOf(id, under('k1', id)))
      await insertWebhooks(one, sampleWebhook('wh_1', { secrets }))
      const racer = (store: Store, keyId: string, order: readonly string[]) =>
        reencrypt(
          store,
          'webhook_secret',
          ...order.map((id) => ({ id, from: under('k1', id), to: under(keyId, id) })),
        )
      const won = await Promise.all([racer(one, 'k2', ids), racer(other, 'k3', ids.toReversed())])
      const counts = await one.encryptedSecrets.count(BORN)
      const of = (keyId: string) => counts.find(({ key_id }) => key_id === keyId)?.count ?? 0
      assert.deepEqual(won, [of('k2'), of('k3')])
      assert.equal(of('k1') + of('k2') + of('k3'), ids.length)
      assert.ok(of('k2') + of('k3') > 0)
    },
  },
]

import assert from 'node:assert/strict'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import type { PlatformCase } from './harness.ts'

const all = { after: '', limit: 10 }

export const secretCases: readonly PlatformCase[] = [
  {
    name: 'encryptedSecrets: secrets of services are counted, listed and replaced as those of the core are',
    async run({ open }) {
      const store = await open()
      const service = { app_id: 'app_1', name: 'mail', kind: 'email', config: {} } as const
      const sealed = new Map([
        ['A', 'v1.k1.sa'],
        ['B', 'v1.k2.sb'],
      ])
      await store.write((tx) => tx.services.put(service, sealed, BORN))
      assert.ok(store.encryptedSecrets.kinds.includes('service_secret'))
      const counts = await store.encryptedSecrets.count(BORN)
      const shown = counts.map(({ kind, key_id, count }) => `${key_id} ${kind} ${count}`)
      assert.deepEqual(shown.sort(), ['k1 service_secret 1', 'k2 service_secret 1'])

      const idsOf = async (keyId: string) =>
        (await store.encryptedSecrets.encryptedElsewhere('service_secret', keyId, all)).map(
          ({ id }) => id,
        )
      assert.deepEqual(await idsOf('k3'), ['app_1/mail/A', 'app_1/mail/B'])
      assert.deepEqual(
        await store.encryptedSecrets.encryptedElsewhere('service_secret', 'k2', all),
        [{ id: 'app_1/mail/A', encrypted: 'v1.k1.sa' }],
      )

      const own = { id: 'app_1/mail/A', from: 'v1.k1.sa', to: 'v1.k2.SA' }
      const reencrypt = (...texts: readonly (typeof own)[]) =>
        store.write((tx) => tx.encryptedSecrets.reencrypt('service_secret', texts))
      assert.equal(await reencrypt(own, { ...own, id: 'app_2/mail/A' }), 1)
      assert.equal(await reencrypt(own), 0)
      assert.deepEqual((await store.services.get('app_1', 'mail'))?.secrets, [
        { name: 'A', sealed: 'v1.k2.SA' },
        { name: 'B', sealed: 'v1.k2.sb' },
      ])
    },
  },
]

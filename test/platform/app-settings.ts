import assert from 'node:assert/strict'
import type { ServiceRecord } from '../../plugins/platform/contract/services.ts'
import type { SignInSettings } from '../../plugins/platform/contract/sign-in.ts'
import { NO_SIGN_IN } from '../../plugins/platform/contract/sign-in.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { insertApp } from './domain-samples.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'

type Secrets = Readonly<Record<string, string | null>>

function put(
  store: PlatformStore,
  name: string,
  secrets: Secrets = {},
  {
    now = BORN,
    ...changes
  }: Partial<Pick<ServiceRecord, 'app_id' | 'kind' | 'config'>> & { readonly now?: number } = {},
): Promise<void> {
  const service = { app_id: 'app_1', name, kind: 'database', config: {}, ...changes } as const
  return store.write((tx) => tx.services.put(service, new Map(Object.entries(secrets)), now))
}

const namesOf = async (store: PlatformStore, limit: number, after: string | null = null) => {
  const { rows, more } = await store.services.list({ app_id: 'app_1', limit, after })
  return [...rows.map(({ name }) => name), more]
}

const serviceCases: readonly PlatformCase[] = [
  {
    name: 'services: of its secrets those that are named change; kind and configuration are replaced',
    async run({ open }) {
      const store = await open()
      await put(
        store,
        'mail',
        { B: 'sealed b', A: 'sealed a' },
        { config: { region: '"eu"', x: '' } },
      )
      const made: ServiceRecord = {
        app_id: 'app_1',
        name: 'mail',
        kind: 'database',
        config: { region: '"eu"', x: '' },
        secrets: [
          { name: 'A', sealed: 'sealed a' },
          { name: 'B', sealed: 'sealed b' },
        ],
        created_at: BORN,
        updated_at: BORN,
      }
      assert.deepEqual(await store.services.get('app_1', 'mail'), made)
      const changes = { A: null, C: 'sealed c', D: null }
      await put(store, 'mail', changes, { kind: 'email', config: { y: 'z' }, now: BORN + 5 })
      assert.deepEqual(await store.services.get('app_1', 'mail'), {
        ...made,
        kind: 'email',
        config: { y: 'z' },
        secrets: [
          { name: 'B', sealed: 'sealed b' },
          { name: 'C', sealed: 'sealed c' },
        ],
        updated_at: BORN + 5,
      })
      assert.equal(await store.services.get('app_2', 'mail'), undefined)
    },
  },
  {
    name: 'services: those of an app are listed by name, page by page',
    async run({ open }) {
      const store = await open()
      for (const name of ['c', 'a', 'b']) await put(store, name, { S: `sealed ${name}`, T: 'x' })
      await put(store, 'd', {}, { app_id: 'app_2' })
      assert.deepEqual(await namesOf(store, 2), ['a', 'b', true])
      assert.deepEqual(await namesOf(store, 2, 'b'), ['c', false])
      assert.equal(await store.services.count('app_1'), 3)
      const { rows } = await store.services.list({ app_id: 'app_1', limit: 9, after: null })
      assert.deepEqual(
        rows.map(({ name, secrets }) => [name, secrets]),
        ['a', 'b', 'c'].map((name) => [name, [{ name: 'S' }, { name: 'T' }]]),
        'what is sealed is not read',
      )
    },
  },
  {
    name: 'services: a page ends with the configuration that reaches its bytes',
    async run({ open }) {
      const store = await open()
      const config = { text: 'é'.repeat(100) }
      for (const name of ['a', 'b', 'c']) {
        await put(store, name, { S: 'x'.repeat(300), T: 'x' }, { config })
      }
      for (const [bytes, count] of [
        [1, 1],
        [201, 1],
        [250, 2],
        [9999, 3],
      ] as const) {
        const page = await store.services.list({ app_id: 'app_1', limit: 9, after: null, bytes })
        assert.deepEqual([page.rows.length, page.more], [count, count < 3], `${bytes} bytes`)
      }
    },
  },
  {
    name: 'services: of racers that remove one, one does; made again it has none of its secrets',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await put(store, 'mail', { A: 'sealed a' })
      await put(store, 'mail', { A: 'sealed of another' }, { app_id: 'app_2' })
      const remove = (one: PlatformStore) => one.write((tx) => tx.services.remove('app_1', 'mail'))
      assertOneWon(await Promise.all(racers.map(remove)))
      assert.equal(await store.services.get('app_1', 'mail'), undefined)
      await put(store, 'mail')
      assert.deepEqual((await store.services.get('app_1', 'mail'))?.secrets, [])
      assert.equal((await store.services.get('app_2', 'mail'))?.secrets.length, 1)
    },
  },
  {
    name: 'services: racers that set one both leave their secrets, and of the same name one',
    async run(harness) {
      const racers = await openRacers(harness)
      await Promise.all(
        racers.map((store, at) => put(store, 'mail', { [`OWN_${at}`]: 'own', SAME: `of ${at}` })),
      )
      const secrets = (await racers[0].services.get('app_1', 'mail'))?.secrets ?? []
      assert.deepEqual(
        secrets.map(({ name }) => name),
        ['OWN_0', 'OWN_1', 'SAME'],
      )
      assert.match(secrets[2]?.sealed ?? '', /^of [01]$/)
    },
  },
]

const SETTINGS: SignInSettings = {
  enabled: true,
  providers: ['password', 'github'],
  allowed_redirects: ['https://shop.example.com/in?"x"'],
  session_ttl: 300,
  signup: 'invite',
}

const change = (
  store: PlatformStore,
  changes: Partial<SignInSettings>,
  now = BORN,
): Promise<void> => store.write((tx) => tx.signIn.change('app_1', changes, now))

const signInCases: readonly PlatformCase[] = [
  {
    name: 'sign-in: what is not named stays, and begins as nobody gets in',
    async run({ open }) {
      const store = await open()
      assert.equal(await store.signIn.get('app_1'), undefined)
      await change(store, { signup: 'open' })
      const first = { ...NO_SIGN_IN, signup: 'open', app_id: 'app_1', updated_at: BORN }
      assert.deepEqual(await store.signIn.get('app_1'), first)
      await change(store, SETTINGS, BORN + 1)
      const all = { ...SETTINGS, app_id: 'app_1', updated_at: BORN + 1 }
      assert.deepEqual(await store.signIn.get('app_1'), all)
      await change(store, { enabled: false, providers: [] }, BORN + 2)
      const last = { ...all, enabled: false, providers: [], updated_at: BORN + 2 }
      assert.deepEqual(await store.signIn.get('app_1'), last)
      assert.equal(await store.signIn.get('app_2'), undefined)
    },
  },
  {
    name: 'sign-in: of racers that change different settings both are heard',
    async run(harness) {
      const racers = await openRacers(harness)
      const [one, other] = racers
      await Promise.all([change(one, { session_ttl: 600 }), change(other, { signup: 'open' })])
      const { session_ttl, signup } = (await one.signIn.get('app_1')) ?? NO_SIGN_IN
      assert.deepEqual([session_ttl, signup], [600, 'open'])
    },
  },
  {
    name: 'settings: a purged app leaves neither services nor how its users sign in',
    async run({ open }) {
      const store = await open()
      await insertApp(store, 'app_1', { archived_at: BORN, purge_at: BORN + 9 })
      await put(store, 'mail', { A: 'v1.k1.sealed' })
      await put(store, 'mail', { A: 'v1.k2.sealed' }, { app_id: 'app_2' })
      await change(store, SETTINGS)
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 9)), true)
      assert.equal(await store.services.count('app_1'), 0)
      assert.equal(await store.signIn.get('app_1'), undefined)
      const sealed = (await store.encryptedSecrets.count(BORN)).map(({ key_id }) => key_id)
      assert.deepEqual(sealed, ['k2'])
    },
  },
]

/** Services of apps, and how their users sign in. */
export const settingCases: readonly PlatformCase[] = [...serviceCases, ...signInCases]

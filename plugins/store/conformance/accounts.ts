import assert from 'node:assert/strict'
import type { StoreCase } from './harness.ts'
import { assertOneWon, openRacers, readPages } from './harness.ts'
import { ACCOUNT, BORN, sampleAccount, sampleUser } from './samples.ts'

export const accountCases: readonly StoreCase[] = [
  {
    name: 'accounts: a record comes back as it was inserted, and an unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      const account = sampleAccount({ name: 'Ünïcode 🔑', suspended_at: BORN + 1 })
      await store.write((tx) => tx.accounts.insert(account))
      assert.deepEqual(await store.accounts.get(ACCOUNT), account)
      assert.equal(await store.accounts.get('acc_unknown'), undefined)
    },
  },
  {
    name: 'accounts: pages run newest first and stay whole while accounts are inserted',
    async run({ open }) {
      const store = await open()
      const insert = (id: string) => store.write((tx) => tx.accounts.insert(sampleAccount({ id })))
      for (const id of ['acc_10', 'acc_11', 'acc_12', 'acc_13']) await insert(id)
      let next = 20
      const seen = await readPages(
        (after) => store.accounts.list({ limit: 2, after }),
        () => insert(`acc_${next++}`),
      )
      assert.deepEqual(seen, ['acc_13', 'acc_12', 'acc_11', 'acc_10'])
    },
  },
  {
    name: 'setPlan: changes the plan alone; false for an unknown account',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await store.write((tx) => tx.accounts.insert(sampleAccount()))
      assert.equal(await store.write((tx) => tx.accounts.setPlan(ACCOUNT, 'pro', now)), true)
      assert.equal(await store.write((tx) => tx.accounts.setPlan('acc_9', 'pro', now)), false)
      const expected = sampleAccount({ plan: 'pro', updated_at: now })
      assert.deepEqual(await store.accounts.get(ACCOUNT), expected)
    },
  },
  {
    name: 'setKeyLimit: changes the limit alone, and null takes it back; false for an unknown account',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const set = (id: string, limit: number | null) =>
        store.write((tx) => tx.accounts.setKeyLimit(id, limit, now))
      await store.write((tx) => tx.accounts.insert(sampleAccount({ key_limit: 7 })))
      assert.equal((await store.accounts.get(ACCOUNT))?.key_limit, 7)
      for (const key_limit of [100_000, null]) {
        assert.equal(await set(ACCOUNT, key_limit), true)
        const expected = sampleAccount({ key_limit, updated_at: now })
        assert.deepEqual(await store.accounts.get(ACCOUNT), expected)
      }
      assert.equal(await set('acc_9', 5), false)
      assert.equal(await store.accounts.get('acc_9'), undefined)
    },
  },
  {
    name: 'insertUser: of two callers with one address one wins, and the other changes nothing',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      await a.write((tx) => tx.accounts.insert(sampleAccount()))
      const won = await Promise.all([
        a.write((tx) => tx.accounts.insertUser(sampleUser({ id: 'usr_a' }))),
        b.write((tx) => tx.accounts.insertUser(sampleUser({ id: 'usr_b' }))),
      ])
      assertOneWon(won)
      const winner = sampleUser({ id: won[0] ? 'usr_a' : 'usr_b' })
      assert.deepEqual(await b.accounts.userByEmail('owner@example.com'), winner)
      assert.equal(await b.accounts.userByEmail('other@example.com'), undefined)
    },
  },
  {
    name: 'withUsers: names each account that has a user once, and no more than asked for',
    async run({ open }) {
      const store = await open()
      const add = (id: string, account_id: string) =>
        store.write((tx) =>
          tx.accounts.insertUser(sampleUser({ id, account_id, email: `${id}@example.com` })),
        )
      for (const id of ['acc_10', 'acc_11', 'acc_12']) {
        await store.write((tx) => tx.accounts.insert(sampleAccount({ id })))
      }
      assert.deepEqual(await store.accounts.withUsers(2), [])
      await add('usr_a', 'acc_12')
      await add('usr_b', 'acc_12')
      assert.deepEqual(await store.accounts.withUsers(2), ['acc_12'])
      await add('usr_c', 'acc_10')
      assert.deepEqual(await store.accounts.withUsers(2), ['acc_10', 'acc_12'])
      assert.deepEqual(await store.accounts.withUsers(1), ['acc_10'])
    },
  },
  {
    name: 'setPassword: changes the hash alone',
    async run({ open, clock }) {
      const store = await open()
      await store.write(async (tx) => {
        await tx.accounts.insert(sampleAccount())
        await tx.accounts.insertUser(sampleUser())
        await tx.accounts.setPassword('usr_1', 'scrypt$2', clock.now())
      })
      const expected = sampleUser({ password: 'scrypt$2', updated_at: clock.now() })
      assert.deepEqual(await store.accounts.userByEmail(expected.email), expected)
    },
  },
  {
    name: 'sessions: a session comes with its user, expired or not, until it is deleted',
    async run({ open }) {
      const store = await open()
      const user = sampleUser()
      const session = {
        hash: 'h1',
        user_id: user.id,
        created_at: BORN,
        expires_at: BORN + 1,
        seen_at: BORN,
        authenticated_at: BORN,
      }
      await store.write(async (tx) => {
        await tx.accounts.insert(sampleAccount())
        await tx.accounts.insertUser(user)
        for (const hash of ['h1', 'h2', 'h3']) await tx.accounts.insertSession({ ...session, hash })
      })
      assert.deepEqual(await store.accounts.session('h1'), { session, user })
      await store.write((tx) => tx.accounts.touchSession('h1', { seen_at: BORN + 7 }))
      const touched = { ...session, seen_at: BORN + 7 }
      assert.deepEqual(await store.accounts.session('h1'), { session: touched, user })
      await store.write((tx) => tx.accounts.deleteSessions({ hash: 'h1' }))
      assert.equal(await store.accounts.session('h1'), undefined)
      assert.notEqual(await store.accounts.session('h2'), undefined)
      await store.write((tx) => tx.accounts.deleteSessions({ user_id: user.id, kept: null }))
      assert.equal(await store.accounts.session('h2'), undefined)
      assert.equal(await store.accounts.session('h3'), undefined)
    },
  },
  {
    name: 'sessionsOf: those of the user alone, last used first; deleteSessions keeps one, or the latest',
    async run({ open }) {
      const store = await open()
      const session = {
        user_id: 'usr_1',
        created_at: BORN,
        expires_at: BORN + 1,
        seen_at: BORN,
        authenticated_at: BORN,
      }
      const other = { ...session, user_id: 'usr_2', hash: 'h9' }
      await store.write(async (tx) => {
        await tx.accounts.insert(sampleAccount())
        await tx.accounts.insertUser(sampleUser())
        await tx.accounts.insertUser(sampleUser({ id: 'usr_2', email: 'other@example.com' }))
        await tx.accounts.insertSession(other)
        for (const [at, hash] of ['h2', 'h1', 'h3'].entries()) {
          await tx.accounts.insertSession({ ...session, hash, seen_at: BORN + at })
        }
      })
      const hashes = async (limit: number): Promise<readonly string[]> =>
        (await store.accounts.sessionsOf('usr_1', limit)).map(({ hash }) => hash)
      assert.deepEqual(await hashes(10), ['h3', 'h1', 'h2'])
      assert.deepEqual(await hashes(2), ['h3', 'h1'])
      assert.deepEqual(await store.accounts.sessionsOf('usr_2', 10), [other])
      await store.write((tx) => tx.accounts.deleteSessions({ user_id: 'usr_1', latest: 2 }))
      assert.deepEqual(await hashes(10), ['h3', 'h1'])
      await store.write((tx) => tx.accounts.deleteSessions({ user_id: 'usr_1', kept: 'h1' }))
      assert.deepEqual(await hashes(10), ['h1'])
      await store.write((tx) => tx.accounts.deleteSessions({ user_id: 'usr_1', latest: 0 }))
      assert.deepEqual(await hashes(10), [])
      assert.deepEqual(await store.accounts.sessionsOf('usr_2', 10), [other])
      assert.deepEqual(await store.accounts.sessionsOf('usr_3', 10), [])
    },
  },
  {
    name: 'usersOf: those of the account alone, without passwords, with the last sign-in of each',
    async run({ open }) {
      const store = await open()
      const session = {
        hash: 'h1',
        user_id: 'usr_2',
        created_at: BORN + 5,
        expires_at: BORN + 9,
        seen_at: BORN + 7,
        authenticated_at: BORN + 7,
      }
      await store.write(async (tx) => {
        for (const id of [ACCOUNT, 'acc_9']) await tx.accounts.insert(sampleAccount({ id }))
        for (const id of ['usr_1', 'usr_2', 'usr_3']) {
          await tx.accounts.insertUser(sampleUser({ id, email: `${id}@example.com` }))
        }
        const other = { id: 'usr_9', account_id: 'acc_9', email: 'usr_9@example.com' }
        await tx.accounts.insertUser(sampleUser(other))
        await tx.accounts.insertSession({ ...session, hash: 'h0', created_at: BORN + 4 })
        await tx.accounts.insertSession(session)
      })
      await store.write((tx) => tx.accounts.deleteSessions({ user_id: 'usr_2', kept: null }))
      const memberOf = (id: string, signed_in_at: number | null) => {
        const { password, ...user } = sampleUser({ id, email: `${id}@example.com` })
        void password
        return { ...user, signed_in_at }
      }
      assert.deepEqual(await store.accounts.usersOf(ACCOUNT, { limit: 2, after: null }), {
        rows: [memberOf('usr_3', null), memberOf('usr_2', BORN + 5)],
        more: true,
      })
      assert.deepEqual(await store.accounts.usersOf(ACCOUNT, { limit: 2, after: 'usr_2' }), {
        rows: [memberOf('usr_1', null)],
        more: false,
      })
      const none = await store.accounts.usersOf('acc_unknown', { limit: 2, after: null })
      assert.deepEqual(none, { rows: [], more: false })
    },
  },
  {
    name: 'setSuspended: of two callers one suspends, and one lets go on',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      await a.write((tx) => tx.accounts.insert(sampleAccount()))
      for (const suspended of [true, false]) {
        const now = BORN + Number(suspended)
        const won = await Promise.all(
          [a, b].map((store) =>
            store.write((tx) => tx.accounts.setSuspended(ACCOUNT, suspended, now)),
          ),
        )
        assertOneWon(won)
        const changes = { suspended_at: suspended ? now : null, updated_at: now }
        assert.deepEqual(await b.accounts.get(ACCOUNT), sampleAccount(changes))
      }
      assert.equal(await a.write((tx) => tx.accounts.setSuspended('acc_9', true, BORN)), false)
      assert.equal(await a.write((tx) => tx.accounts.setSuspended('acc_9', false, BORN)), false)
    },
  },
  {
    name: 'takeSetupLink: of two callers exactly one gets it',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      await a.write((tx) => tx.accounts.putSetupLink('link', now + 1))
      const taken = await Promise.all(
        [a, b, a].map((store) => store.write((tx) => tx.accounts.takeSetupLink('link', now))),
      )
      assertOneWon(taken)
    },
  },
  {
    name: 'takeSetupLink: a link that expires now, is unknown or was replaced is nobody’s',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const take = (hash: string, at: number) =>
        store.write((tx) => tx.accounts.takeSetupLink(hash, at))
      await store.write((tx) => tx.accounts.putSetupLink('first', now + 1000))
      await store.write((tx) => tx.accounts.putSetupLink('second', now + 1000))
      assert.equal(await take('first', now), false)
      assert.equal(await take('unknown', now), false)
      assert.equal(await take('second', now + 1000), false)
      assert.equal(await take('second', now + 999), true)
    },
  },
  {
    name: 'putMetaOnce: the first value under a name is kept and answered to everyone',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      assert.equal(await a.accounts.meta('brand'), undefined)
      const answers = await Promise.all([
        a.write((tx) => tx.accounts.putMetaOnce('brand', 'one')),
        b.write((tx) => tx.accounts.putMetaOnce('brand', 'two')),
      ])
      const kept = await b.accounts.meta('brand')
      assert.ok(kept === 'one' || kept === 'two')
      assert.deepEqual(answers, [kept, kept])
      assert.equal(await a.write((tx) => tx.accounts.putMetaOnce('brand', 'three')), kept)
      assert.equal(await a.write((tx) => tx.accounts.putMetaOnce('other', 'four')), 'four')
    },
  },
]

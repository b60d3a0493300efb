import assert from 'node:assert/strict'
import type { Store } from '../contract.ts'
import { AFTER, BEFORE, changeEverything, look, openWithOne } from './changes.ts'
import type { StoreCase } from './harness.ts'
import { openRacers } from './harness.ts'
import { BORN, deliveryOf, sampleAccount, sampleUser } from './samples.ts'

const commitCases: readonly StoreCase[] = [
  {
    name: 'write: others see none of a unit until it commits',
    requires: 'concurrentReads',
    async run(harness) {
      const store = await openWithOne(harness)
      await store.write(async (tx) => {
        await changeEverything(tx)
        assert.deepEqual(await look(store), BEFORE)
        assert.equal((await deliveryOf(store, 'd1'))?.status, 'skipped')
      })
    },
  },
  {
    name: 'write: a unit sees its own changes, and all see them once it has committed',
    async run(harness) {
      const store = await openWithOne(harness)
      const answer = await store.write(async (tx) => {
        await changeEverything(tx)
        assert.deepEqual(await look(tx), AFTER)
        return 'the answer'
      })
      assert.equal(answer, 'the answer')
      assert.deepEqual(await look(store), AFTER)
      assert.equal((await deliveryOf(store, 'd1'))?.status, 'pending')
    },
  },
  {
    name: 'write: a rejected unit leaves nothing behind and runs no afterCommit',
    async run(harness) {
      const store = await openWithOne(harness)
      let ran = 0
      const cause = new Error('changed my mind')
      const failing = store.write(async (tx) => {
        tx.afterCommit(() => ran++)
        await changeEverything(tx)
        throw cause
      })
      await assert.rejects(failing, cause)
      assert.deepEqual(await look(store), BEFORE)
      assert.equal((await deliveryOf(store, 'd1'))?.status, 'skipped')
      await store.write(changeEverything)
      assert.deepEqual(await look(store), AFTER)
      assert.equal(ran, 0)
    },
  },
  {
    name: 'write: a unit that throws before it answers a promise is a rejected one',
    async run(harness) {
      const store = await openWithOne(harness)
      const failing = store.write(() => {
        throw new Error('thrown at once')
      })
      await assert.rejects(failing, /thrown at once/)
      await store.write(changeEverything)
      assert.deepEqual(await look(store), AFTER)
    },
  },
  {
    name: 'write: a unit that the store refuses leaves nothing behind, and the next one commits',
    async run(harness) {
      const store = await openWithOne(harness)
      const failing = store.write(async (tx) => {
        await changeEverything(tx)
        await tx.accounts.insert(sampleAccount())
      })
      await assert.rejects(failing)
      assert.deepEqual(await look(store), BEFORE)
      await store.write(changeEverything)
      assert.deepEqual(await look(store), AFTER)
    },
  },
  {
    name: 'write: units are as if one after another, so that no read-then-write is lost',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      await a.write(async (tx) => {
        await tx.accounts.insert(sampleAccount())
        await tx.accounts.insertUser(sampleUser({ password: '' }))
      })
      const { email, id } = sampleUser()
      const append = (store: Store) =>
        store.write(async (tx) => {
          const user = await tx.accounts.userByEmail(email)
          await tx.accounts.setPassword(id, `${user?.password ?? ''}x`, BORN)
        })
      await Promise.all([a, b, a, b, a, b, a, b].map(append))
      assert.equal((await b.accounts.userByEmail(email))?.password, 'xxxxxxxx')
    },
  },
]

const afterCommitCases: readonly StoreCase[] = [
  {
    name: 'afterCommit: runs in order, before write resolves and before the next unit starts',
    async run({ open }) {
      const store = await open()
      const order: string[] = []
      const unit = (name: string) =>
        store
          .write(async (tx) => {
            order.push(`${name} starts`)
            tx.afterCommit(() => order.push(`${name} committed`))
            tx.afterCommit(() => order.push(`${name} committed, second`))
            await tx.accounts.putMetaOnce(name, 'written')
            order.push(`${name} ends`)
          })
          .then(() => order.push(`${name} resolves`))
      await Promise.all([unit('a'), unit('b')])
      const positionOf = (moment: string) => order.indexOf(moment)
      for (const name of ['a', 'b']) {
        const moments = ['starts', 'ends', 'committed', 'committed, second', 'resolves']
        const positions = moments.map((moment) => positionOf(`${name} ${moment}`))
        assert.ok(!positions.includes(-1), order.join('; '))
        assert.deepEqual(
          positions,
          [...positions].sort((one, other) => one - other),
          order.join('; '),
        )
      }
      assert.ok(positionOf('a committed, second') < positionOf('b starts'), order.join('; '))
    },
  },
  {
    name: 'afterCommit: what was written is there for whoever reads from then on',
    async run({ open }) {
      const store = await open()
      let read: Promise<string | undefined> | undefined
      await store.write(async (tx) => {
        await tx.accounts.putMetaOnce('brand', 'service')
        tx.afterCommit(() => {
          read = store.accounts.meta('brand')
        })
      })
      assert.equal(await read, 'service')
    },
  },
  {
    name: 'ping: resolves while the store can write',
    async run({ open }) {
      const store = await open()
      await store.ping()
    },
  },
]

export const unitOfWorkCases: readonly StoreCase[] = [...commitCases, ...afterCommitCases]

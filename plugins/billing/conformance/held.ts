import assert from 'node:assert/strict'
import type { BillingCase } from './harness.ts'
import {
  ACCOUNT,
  STRANGER,
  assertWallet,
  capture,
  edits,
  fundEdits,
  hold,
  refusalOf,
  release,
} from './harness.ts'

/** What is set aside for work that is accepted. */
export const holdCases: readonly BillingCase[] = [
  {
    name: 'hold: what is held is owned still, and cannot be held again',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 2)
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      await assertWallet(harness, { balance: 2 * price, held: price })
      await hold(harness, edits(ACCOUNT, 'edit_2'))
      const { currency, ...details } = await refusalOf(hold(harness, edits(ACCOUNT, 'edit_3')))
      assert.deepEqual(details, {
        operation: 'edits.create',
        required_micros: price,
        available_micros: 0,
        source: 'wallet',
      })
      assert.equal(typeof currency, 'string')
      await assertWallet(harness, { balance: 2 * price, held: 2 * price })
    },
  },
  {
    name: 'hold: an account that has nothing is refused, and others do not pay for it',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 5, STRANGER)
      await refusalOf(hold(harness, edits(ACCOUNT, 'edit_1')))
      await assertWallet(harness, { balance: 0, held: 0 })
      await assertWallet(harness, { balance: 5 * price, held: 0 }, STRANGER)
    },
  },
  {
    name: 'hold: of several works all are held for, or none',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 2)
      const details = await refusalOf(hold(harness, edits(ACCOUNT, 'edit_1', 'edit_2', 'edit_3')))
      assert.equal(details['required_micros'], 3 * price)
      assert.equal(details['available_micros'], 2 * price)
      await assertWallet(harness, { balance: 2 * price, held: 0 })
      await hold(harness, edits(ACCOUNT, 'edit_1', 'edit_2'))
      await assertWallet(harness, { balance: 2 * price, held: 2 * price })
    },
  },
  {
    name: 'hold: the same work is held for once, however often it is asked',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 1)
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      await assertWallet(harness, { balance: price, held: price })
      await capture(harness, 'edit_1')
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      await assertWallet(harness, { balance: 0, held: 0 })
    },
  },
  {
    name: 'hold: in one unit it sees what the unit did before',
    requires: 'metered',
    async run(harness) {
      const { billing } = harness
      const price = await fundEdits(harness, 1)
      await harness.write(async (tx) => {
        await billing.hold(tx, edits(ACCOUNT, 'edit_1'))
        await refusalOf(billing.hold(tx, edits(ACCOUNT, 'edit_2')))
        await billing.release(tx, 'edit_1')
        await billing.hold(tx, edits(ACCOUNT, 'edit_2'))
      })
      await assertWallet(harness, { balance: price, held: price })
      assert.equal(await capture(harness, 'edit_1'), 0)
      assert.equal(await capture(harness, 'edit_2'), price)
    },
  },
  {
    name: 'hold: of units that race for the last of the money one wins',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 1)
      const ids = ['edit_1', 'edit_2', 'edit_3', 'edit_4']
      const tried = await Promise.allSettled(ids.map((id) => hold(harness, edits(ACCOUNT, id))))
      assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 1)
      await assertWallet(harness, { balance: price, held: price })
    },
  },
  {
    name: 'hold: what was released may be held for anew, and is paid for then',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 1)
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      await release(harness, 'edit_1')
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      await assertWallet(harness, { balance: price, held: price })
      await refusalOf(hold(harness, edits(ACCOUNT, 'edit_2')))
      assert.equal(await capture(harness, 'edit_1'), price)
    },
  },
  {
    name: 'units: one that rolls back holds, takes and gives back nothing',
    requires: 'metered',
    async run(harness) {
      const { billing } = harness
      const price = await fundEdits(harness, 2)
      const undone = (id: string, act: 'hold' | 'capture' | 'release'): Promise<void> =>
        assert.rejects(
          harness.write(async (tx) => {
            if (act === 'hold') await billing.hold(tx, edits(ACCOUNT, id))
            else await billing[act](tx, id)
            throw new Error('no')
          }),
          /no/,
        )
      await undone('edit_1', 'hold')
      await assertWallet(harness, { balance: 2 * price, held: 0 })
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      await undone('edit_1', 'capture')
      await undone('edit_1', 'release')
      await assertWallet(harness, { balance: 2 * price, held: price })
      assert.equal(await capture(harness, 'edit_1'), price)
      await assertWallet(harness, { balance: price, held: 0 })
    },
  },
  {
    name: 'estimate: says what a hold would take, and changes nothing',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 3)
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      const asked = edits(ACCOUNT, 'edit_2', 'edit_3', 'edit_4')
      const { currency, ...estimate } = await harness.billing.estimate(asked)
      assert.deepEqual(estimate, { required_micros: 3 * price, available_micros: 2 * price })
      assert.equal(typeof currency, 'string')
      await assertWallet(harness, { balance: 3 * price, held: price })
    },
  },
]

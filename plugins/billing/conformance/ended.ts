import assert from 'node:assert/strict'
import type { BillingCase } from './harness.ts'
import { ACCOUNT, assertWallet, capture, edits, fundEdits, hold, release } from './harness.ts'

/** What becomes of what was set aside, once the work has ended. */
export const endCases: readonly BillingCase[] = [
  {
    name: 'ends: work that was never held for costs nothing, however it ends',
    async run(harness) {
      assert.equal(await capture(harness, 'edit_1'), 0)
      assert.equal(await capture(harness, 'edit_1', 5), 0)
      await release(harness, 'edit_1')
      assert.equal(await capture(harness, 'edit_1'), 0)
    },
  },
  {
    name: 'ends: work that is accepted is paid for once, and the answer says what',
    async run(harness) {
      const { fund } = harness
      const { required_micros } = await harness.billing.estimate(edits(ACCOUNT, 'edit_1'))
      await fund?.(ACCOUNT, required_micros)
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      assert.equal(await capture(harness, 'edit_1'), required_micros)
      assert.equal(await capture(harness, 'edit_1'), required_micros)
    },
  },
  {
    name: 'ends: payment is taken from what was held; work that came to nothing gives it back',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 3)
      await hold(harness, edits(ACCOUNT, 'edit_1', 'edit_2'))
      assert.equal(await capture(harness, 'edit_1'), price)
      await assertWallet(harness, { balance: 2 * price, held: price })
      await release(harness, 'edit_2')
      await assertWallet(harness, { balance: 2 * price, held: 0 })
    },
  },
  {
    name: 'ends: work that came to less is paid for as that, and never above what was held',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 9)
      const works = [
        { operation_id: 'edit_1', quantity: 4 },
        { operation_id: 'edit_2', quantity: 2 },
      ]
      await hold(harness, { ...edits(ACCOUNT), works })
      await assertWallet(harness, { balance: 9 * price, held: 6 * price })
      assert.equal(await capture(harness, 'edit_1', 1), price)
      await assertWallet(harness, { balance: 8 * price, held: 2 * price })
      assert.equal(await capture(harness, 'edit_2', 100), 2 * price)
      await assertWallet(harness, { balance: 6 * price, held: 0 })
    },
  },
  {
    name: 'ends: the first one stands, whatever is told after it',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 2)
      await hold(harness, edits(ACCOUNT, 'edit_1', 'edit_2'))
      assert.equal(await capture(harness, 'edit_1'), price)
      await release(harness, 'edit_1')
      assert.equal(await capture(harness, 'edit_1'), price)
      await release(harness, 'edit_2')
      await release(harness, 'edit_2')
      assert.equal(await capture(harness, 'edit_2'), 0)
      await assertWallet(harness, { balance: price, held: 0 })
    },
  },
  {
    name: 'ends: of ends that race one counts',
    requires: 'metered',
    async run(harness) {
      const price = await fundEdits(harness, 1)
      await hold(harness, edits(ACCOUNT, 'edit_1'))
      const [first, second] = await Promise.all([
        capture(harness, 'edit_1'),
        capture(harness, 'edit_1'),
        release(harness, 'edit_1'),
      ])
      assert.equal(first, second)
      assert.ok(first === price || first === 0)
      await assertWallet(harness, { balance: price - first, held: 0 })
    },
  },
]

import t from 'tap'
import { runCases } from '../../plugins/conformance.ts'
import type { BillingHarness } from '../../plugins/billing/conformance.ts'
import { billingCases } from '../../plugins/billing/conformance.ts'
import { edits, refusalOf } from '../../plugins/billing/conformance/harness.ts'
import type { BillingTx } from '../../plugins/billing/contract.ts'
import { createMemoryWallet } from '../../plugins/billing/memory.ts'
import { createNoBilling } from '../../plugins/billing/none.ts'
import { createMemoryStore } from '../../plugins/store/memory.ts'

/** The wallet under the units of a real store, and by itself. */
function walletHarness(): BillingHarness {
  const store = createMemoryStore()
  const billing = createMemoryWallet()
  return {
    billing,
    write: (work) => store.write(work),
    fund: async (accountId, micros) => billing.grant(accountId, micros),
    async wallet(accountId) {
      const { balance_micros: balance, held_micros: held } = billing.wallet(accountId)
      return { balance, held }
    },
    close: () => store.close(),
  }
}

function noneHarness(): BillingHarness {
  return {
    billing: createNoBilling(),
    write: async (work) => work({ afterCommit: () => undefined }),
  }
}

const SUITES = {
  memory: { makeHarness: walletHarness, capabilities: ['metered'] },
  none: { makeHarness: noneHarness, capabilities: [] },
}

for (const [name, { makeHarness, capabilities }] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of the billing room`, async (t) => {
    const left = runCases(
      billingCases,
      async () => makeHarness(),
      (title, run) => {
        void t.test(title, async (t) => {
          await run()
          t.pass('as the contract says')
        })
      },
      capabilities,
    )
    const metered = billingCases.filter(({ requires }) => requires === 'metered')
    const expected = name === 'none' ? metered.map((one) => one.name) : []
    t.same(left, expected, 'who meters nothing has no money to tell of')
  })
}

await t.test('none: everything is allowed, and nothing is kept', async (t) => {
  const billing = createNoBilling()
  const tx: BillingTx = { afterCommit: () => t.fail('nothing waits for a commit') }
  t.equal(billing.mode, 'none')
  const works = [{ operation_id: 'edit_1', quantity: Number.MAX_SAFE_INTEGER }]
  const asked = { ...edits('acc_1'), works }
  t.same(await billing.estimate(asked), {
    required_micros: 0,
    available_micros: null,
    currency: null,
  })
  await billing.hold(tx, asked)
  t.equal(await billing.capture(tx, 'edit_1'), 0)
  await billing.release(tx, 'edit_1')
})

await t.test('memory: what is granted while a unit is open is not lost', async (t) => {
  const { billing, write } = walletHarness()
  const wallet = createMemoryWallet({ prices: { 'edits.create': 5 }, currency: 'EUR' })
  t.equal(billing.mode, 'internal')
  wallet.grant('acc_1', 5)
  await write(async (tx) => {
    await wallet.hold(tx, edits('acc_1', 'edit_1'))
    wallet.grant('acc_1', 7)
    t.match(await refusalOf(wallet.hold(tx, edits('acc_1', 'edit_2', 'edit_3'))), {
      required_micros: 10,
      available_micros: 7,
      currency: 'EUR',
    })
    t.same(wallet.wallet('acc_1'), { balance_micros: 12, held_micros: 0 }, 'nobody sees it yet')
  })
  t.same(wallet.wallet('acc_1'), { balance_micros: 12, held_micros: 5 })
})

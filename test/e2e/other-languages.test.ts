import t from 'tap'
import { until } from '../support/daemon.ts'
import { sqliteBackend } from '../support/outbox.ts'
import { versionOf } from '../support/receivers/process.ts'
import { deliveredOrders, followPage } from '../support/shop-page.ts'

/** Go and Java: test/soak/other-languages.test.ts. */
await t.test('every command of docs/other-languages.md does what the page says', async (t) => {
  const hasPython = versionOf(['python3', '--version']) !== undefined
  if (!hasPython) t.comment('Python is not installed: its backend was not run')
  const folder = t.testdir({})
  const kind = hasPython ? 'python' : undefined
  const { receiver } = await followPage(t, kind, sqliteBackend(folder), folder)

  const numbers = ['o_1', ...(hasPython ? ['o_2'] : [])]
  await until('each order arrives', () => receiver.requests.length >= numbers.length)
  t.strictSame(deliveredOrders(receiver), numbers)
  t.equal(receiver.requests.length, numbers.length, 'and no more than once each')
})

/**
 * A backend with an embedded Keyhook, in a process of its own, which is killed: commits every second of its
 * transactions and rolls the others back, and prints `open` inside one that it does not end.
 *
 * @module
 */
import { createKeyhook } from '../../daemon/embed/index.ts'
import type { OpenLibrary } from './libraries.ts'
import { LIBRARIES } from './libraries.ts'

const [name = '', location = '', first = '', count = ''] = process.argv.slice(2)
const library: OpenLibrary = await LIBRARIES[name as keyof typeof LIBRARIES].open(location)
const keyhook = await createKeyhook({
  database: library.database,
  masterKey: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  eventTypes: ['order.paid'],
  logLevel: 'silent',
})
/** Its message, and no other error, says that a transaction was rolled back as it should. */
const ROLLBACK = 'rolled back'
process.stdout.write('begun\n')
const begin = Number(first)
const numbers = Array.from({ length: Number(count) }, (_, index) => begin + index)
await Promise.all(
  numbers.map(async (number) => {
    const ordered = order(number, async () => {
      if (number % 2 === 1) throw new Error(ROLLBACK)
    })
    await ordered.catch((cause: unknown) => {
      if (!(cause instanceof Error) || cause.message !== ROLLBACK) throw cause
    })
  }),
)
await order(begin + numbers.length, async () => {
  process.stdout.write('open\n')
  await new Promise((resolve) => setTimeout(resolve, 600_000))
})

function order(number: number, end: () => Promise<void>): Promise<void> {
  return library.order(keyhook, `o_${number}`, async (transaction) => {
    const data = { number: `o_${number}` }
    const event = { account_id: 'acct_1', type: 'order.paid', data } as const
    await keyhook.webhooks.publish(event, { transaction })
    await end()
  })
}

/** The driver: a process that publishes and administers without end, and journals what it was told. */
import { createSeededRandom } from '../support/seeded-random.ts'
import { administer } from './driver/admin.ts'
import { createOffice } from './driver/office.ts'
import { publishOn } from './driver/publish.ts'
import type { DriverOrders } from './facts.ts'

const PUBLISHERS = 5

/** What the supervisor may say; each is answered by its own word once it is so. */
export type DriverWord = { readonly orders: DriverOrders } | 'pause' | 'resume'

function start(orders: DriverOrders): { pause(): Promise<void>; resume(): void } {
  const office = createOffice(orders)
  const work = [
    ...Array.from({ length: PUBLISHERS }, (_, index) =>
      publishOn(office, createSeededRandom(`${orders.seed} publisher ${index}`)),
    ),
    ...administer(office, orders),
  ]
  for (const one of work) one.catch(fail)
  return office
}

/** Never a refusal of the daemon's: a fault of the harness. */
function fail(cause: unknown): void {
  process.stderr.write(`driver: ${cause instanceof Error ? cause.stack : String(cause)}\n`)
  process.exit(1)
}

let working: ReturnType<typeof start> | undefined
process.on('message', (word: DriverWord) => {
  if (word === 'resume') {
    working?.resume()
    process.send?.(word)
  } else if (word === 'pause') {
    working?.pause().then(() => process.send?.(word), fail)
  } else {
    working = start(word.orders)
    process.send?.('started')
  }
})
process.once('disconnect', () => process.exit(0))

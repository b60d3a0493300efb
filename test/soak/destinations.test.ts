/** Destinations over the servers that Debian packages: test/soak/brokers.sh installs them. */
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { runCases } from '../../plugins/conformance.ts'
import { parseDestinations } from '../../plugins/destinations/addresses.ts'
import { destinationCases } from '../../plugins/destinations/conformance.ts'
import { createRabbitMqDestination } from '../../plugins/destinations/rabbitmq.ts'
import { createRedisDestination } from '../../plugins/destinations/redis.ts'
import type { Broker } from '../support/brokers.ts'
import { missingBrokers, startRabbitMq, startRedis } from '../support/brokers.ts'

t.setTimeout(30 * MINUTE)

const KINDS = {
  rabbitmq: {
    start: startRabbitMq,
    open: (text: string) => createRabbitMqDestination(parseDestinations(text).rabbitmq),
  },
  redis: {
    start: startRedis,
    open: (text: string) => createRedisDestination(parseDestinations(text).redis),
  },
}

const missing = missingBrokers()
for (const name of missing) t.comment(`${name} is not installed: its destination is not run`)
if (process.env['CI'] === 'true') t.strictSame(missing, [], 'a machine of CI has the servers')

let count = 0

for (const [type, { start, open }] of Object.entries(KINDS)) {
  if (missing.includes(`${type}-server`)) continue
  await t.test(`${type} keeps the contract of the destinations room`, async (t) => {
    const broker: Broker = await start()
    t.teardown(() => broker.close())
    const makeHarness = async () => {
      count += 1
      const name = `orders-${count}`
      await broker.prepare(name)
      const destination = open(`${name}=${broker.url}`)
      let isRefused = false
      return {
        destination,
        name,
        // What refuses has nothing to read from.
        received: async () => (isRefused ? [] : broker.received(name)),
        async refuse() {
          await broker.refuse(name)
          isRefused = true
        },
        stop: () => broker.kill(),
        restart: () => broker.start(),
        async hang() {
          broker.hang()
        },
        async close() {
          broker.resume()
          await destination.close()
        },
      }
    }
    const register = (name: string, run: () => Promise<void>) => void t.test(name, run)
    const left = runCases(destinationCases, makeHarness, register, ['refuses', 'server', 'hangs'])
    t.strictSame(left, [])
  })
}

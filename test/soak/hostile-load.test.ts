import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { until } from '../support/daemon.ts'
import { OK, receiverAt } from '../support/egress.ts'
import { answerWith } from '../support/receiver.ts'
import { sized } from '../support/soak.ts'
import { HOST } from '../adversarial/hostile/server.ts'
import type { Door } from '../adversarial/hostile/stand.ts'
import { createStand } from '../adversarial/hostile/stand.ts'

const HEALTHY = 20
const ROUNDS = 3
/** Published in a round. */
const EVENTS = sized(4, 6, 20)
/** In all rounds. */
const EXCHANGES = sized(1000, 1500, 5000)
const MIB = 1024 * 1024

await t.test('thousands of hostile exchanges leave nothing behind', async (t) => {
  const child = fork(new URL('../adversarial/hostile/crowd.js', import.meta.url), [t.testdir()])
  t.teardown(() => child.kill())
  const [crowd] = (await once(child, 'message')) as [readonly Door[]]
  const receivers = await Promise.all(
    Array.from({ length: HEALTHY }, () => receiverAt(t, answerWith(OK), HOST)),
  )
  const resources = process.getActiveResourcesInfo().sort()
  const listeners = countListeners()
  const ca = crowd.map((door) => door.ca ?? '').join('')
  // Who is silent has one send at a time: so long for each of its events. A busy machine may not make a healthy
  // exchange take that long.
  const stand = await createStand(t, { timeout: 3000, ca })
  const register = async (doors: readonly Door[]) =>
    Promise.all(doors.map((door) => stand.register(door, 'any')))
  const hostile = await register(crowd)
  const healthy = await register(receivers)

  const weights: number[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (let event = 0; event < EVENTS; event += 1) await stand.publish('any')
    for (const webhook of [...healthy, ...hostile]) {
      await stand.attempted(webhook, round * EVENTS)
    }
    weights.push(weigh())
  }
  const [first = 0, ...later] = weights
  const growth = (Math.max(...later) - first) / MIB
  const exchanges = hostile.length * EVENTS * ROUNDS
  t.comment(`${exchanges} hostile exchanges, ${growth.toFixed(1)} MiB more after the first third`)
  t.ok(exchanges >= EXCHANGES)
  t.ok(growth <= 64, `grew by ${growth} MiB`)
  for (const webhook of healthy) {
    // An exchange that took too long on a busy machine is repeated.
    const served = await stand.succeeded(webhook, ROUNDS * EVENTS)
    const failures = served.flatMap(({ attempts }) =>
      attempts.filter(({ error }) => error !== null),
    )
    t.ok(failures.every(({ error }) => error === 'timeout'))
  }

  await stand.stop()
  for (const { port } of [...crowd, ...receivers]) t.equal(stand.connections(port), 0)
  await stand.close()
  await until('no timer and no handle is left', () => {
    const left = process.getActiveResourcesInfo().sort()
    return left.join() === resources.join()
  })
  t.equal(countListeners(), listeners)
})

function countListeners(): number {
  return process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
}

/** Resident memory, garbage collected first. */
function weigh(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage.rss()
}

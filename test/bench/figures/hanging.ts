import type { Figure, Values } from '../figure.ts'
import { publishing } from '../payload.ts'
import type { Made } from '../roles/daemon.ts'
import type { Waits } from '../roles/receiver.ts'
import type { Round } from '../round.ts'

const WEBHOOKS = 100
const RATE = 200
/** Far beyond what any healthy delivery may wait. */
const PATIENCE_MS = 3000
/** Until every slot that hanging receivers can take is taken, and then as long again. */
const TIMES = 3

const typeOf = (index: number): string => `bench.w${index}`

/** Waits of the even webhooks, while the odd ones do what `odd` says. */
async function waitsOfEven(round: Round, odd: '/in' | '/hang'): Promise<Waits> {
  const { child: receiver, origin: target } = await round.receiver()
  const { env } = await round.place('sqlite')
  const types = Array.from({ length: WEBHOOKS }, (_, index) => typeOf(index))
  const daemon = await round.daemon({
    env: { ...env, KEYHOOK_EVENT_TYPES: types.join(',') },
    dispatch: true,
  })
  const { key } = await daemon.child.call<Made>(
    'make',
    types.map((type, index) => ({ type, url: target + (index % 2 === 0 ? '/stamped' : odd) })),
  )
  const { from, to, sent } = await round.load({
    origin: daemon.origin,
    method: 'POST',
    path: '/v1/events',
    status: 202,
    key,
    bodies: types.map((type) => publishing(type)),
    rate: RATE,
    seconds: round.seconds * TIMES,
  })
  const waits = await receiver.call<Waits>('waits', {
    from,
    to,
    // Types are sent in turn, so half of all go to the even ones.
    sent: Math.floor(sent / 2),
    patienceMs: PATIENCE_MS,
  })
  await daemon.child.end()
  return waits
}

async function measure(round: Round): Promise<Values> {
  const healthy = await waitsOfEven(round, '/in')
  const beside = await waitsOfEven(round, '/hang')
  return {
    ratio: beside.p99 / healthy.p99,
    'p50 ms': beside.p50,
    'p99 ms': beside.p99,
    'p99 ms with none hanging': healthy.p99,
    'late beyond 3 s': beside.missing,
  }
}

export const hanging: Figure = {
  name: 'half-hanging',
  title: `p99 from request to arrival at healthy webhooks while half of ${WEBHOOKS} hang, ${RATE} events/s, SQLite`,
  baseline: 'the same webhooks while none hangs',
  goals: [{ value: 'ratio', at_most: 1.2 }],
  takes: 21,
  measure,
}

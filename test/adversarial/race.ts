import type { Test } from 'tap'
import type { Store, StoreTx } from '../../plugins/store/contract.ts'
import { signal } from '../support/signal.ts'
import type { World } from '../support/world.ts'

/** Which of two requests the writer takes first. */
export type Order = 'first before second' | 'second before first'

const ORDERS: readonly Order[] = ['first before second', 'second before first']

/** Twenty races, in each order by turns. */
export const ROUNDS: readonly Order[] = Array.from({ length: 10 }, () => ORDERS).flat()

/**
 * Sends two requests and holds each where its unit of work would begin, past all that is judged before;
 * once both wait there, they go on in the given order. A request that writes nothing is not waited for.
 */
export async function race<First, Second>(
  t: Test,
  { platform }: World,
  first: () => Promise<First>,
  second: () => Promise<Second>,
  order: Order,
): Promise<readonly [First, Second]> {
  const gate = gateWrites(t, platform.store)
  const one = first()
  await Promise.race([gate.arrival(), one])
  const two = second()
  await Promise.race([gate.arrival(), two])
  gate.open(order)
  return [await one, await two]
}

interface Gate {
  /** Resolves when one more unit of work has come to the gate. */
  arrival(): Promise<void>
  /** Lets in those that wait, and from then on everyone. */
  open(order: Order): void
}

function gateWrites(t: Test, store: Store): Gate {
  const waiting: (() => void)[] = []
  let arrived = createSignal()
  const { write } = store
  const gate = t.intercept(store, 'write', {
    async value<T>(work: (tx: StoreTx) => Promise<T>): Promise<T> {
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        arrived.tell()
      })
      return write(work)
    },
  })
  return {
    async arrival() {
      await arrived.told
      arrived = createSignal()
    },
    open(order) {
      gate.restore()
      if (order === 'second before first') waiting.reverse()
      for (const go of waiting) go()
    },
  }
}

/** Something that happens once, and those who wait for it. */
export interface Signal {
  readonly told: Promise<void>
  tell(): void
}

export function createSignal(): Signal {
  const { promise: told, resolve: tell } = signal()
  return {
    told,
    tell: () => {
      tell()
    },
  }
}

/**
 * Holds the next reading of a key's chain: the store has answered, and the answer is late.
 */
export function holdNextRead(
  t: Test,
  { platform }: World,
): { readonly read: Promise<void>; land(): void } {
  const { keys } = platform.store
  const { findChain } = keys
  const read = createSignal()
  const landing = createSignal()
  const held = t.intercept(keys, 'findChain', {
    async value(hash: string) {
      held.restore()
      const chain = await findChain(hash)
      read.tell()
      await landing.told
      return chain
    },
  })
  return { read: read.told, land: landing.tell }
}

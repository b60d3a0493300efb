import {
  NAME,
  declareArguments,
  listOf,
  optional,
  optionsOf,
} from '../../lib/internal/arguments.ts'
import type { Destination, DestinationMessage } from './contract.ts'

export interface MemoryDestinationOptions {
  /** Default `memory`. */
  readonly type?: string
  /** Names that are declared. Default `orders`. */
  readonly names?: readonly string[]
}

export interface MemoryDestination extends Destination {
  /** What arrived, oldest first. */
  readonly received: readonly DestinationMessage[]
  /** Ends the next sends as failed, or lets them through again. */
  refuse(isRefused: boolean): void
}

const readOptions = declareArguments('createMemoryDestination', {
  options: optionsOf({ type: optional(NAME), names: optional(listOf(NAME)) }),
})

/**
 * A fake, for tests and for trying destinations: it keeps what arrives.
 *
 * @example
 * const destination = createMemoryDestination({ type: 'memory', names: ['orders'] })
 */
export function createMemoryDestination(
  ...args: readonly [options?: MemoryDestinationOptions]
): MemoryDestination {
  const [{ type = 'memory', names = ['orders'] } = {}] = readOptions(args) as typeof args
  const received: DestinationMessage[] = []
  let isRefused = false
  let isClosed = false
  return {
    received,
    refuse(refused) {
      isRefused = refused
    },
    describe: () => ({ type, names: [...names] }),
    validate: (name) => names.includes(name),
    async send(message, signal) {
      if (!names.includes(message.name)) {
        return { ok: false, code: 'destination', cause: 'undeclared' }
      }
      if (isClosed || signal.aborted) return { ok: false, code: 'aborted' }
      if (isRefused) return { ok: false, code: 'destination', cause: 'rejected' }
      received.push({ ...message, body: message.body.slice() })
      return { ok: true }
    },
    async close() {
      isClosed = true
    },
  }
}

import type { Publisher } from './connection.ts'
import type { Destination } from './contract.ts'
import { refusedAs } from './failures.ts'

/** A destination that has a publisher of its own for each declared name. */
export function createNamed(type: string, publishers: ReadonlyMap<string, Publisher>): Destination {
  return {
    describe: () => ({ type, names: [...publishers.keys()] }),
    validate: (name) => publishers.has(name),
    async send(message, signal) {
      const publisher = publishers.get(message.name)
      return publisher === undefined ? refusedAs('undeclared') : publisher.send(message, signal)
    },
    async close() {
      await Promise.all(Array.from(publishers.values(), (publisher) => publisher.close()))
    },
  }
}

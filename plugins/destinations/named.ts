import type { Audience } from './contract/addresses.ts'
import type { Connect } from './connection.ts'
import { createPublisher } from './connection.ts'
import type { Destination } from './contract.ts'
import { refusedAs } from './failures.ts'

/** A destination that has a publisher of its own for each declared name. */
export function createNamed<Address extends Audience>(
  type: string,
  addresses: readonly Address[],
  connect: (address: Address, ...rest: Parameters<Connect>) => ReturnType<Connect>,
): Destination {
  const declared = new Map(
    addresses.map((address) => [
      address.name,
      { ...address, publisher: createPublisher((lost) => connect(address, lost)) },
    ]),
  )
  const find = (name: string, accountId: string) => {
    const found = declared.get(name)
    return found?.accounts?.has(accountId) === false ? undefined : found
  }
  return {
    describe: () => ({ type, names: [...declared.keys()] }),
    validate: (name, accountId) => find(name, accountId) !== undefined,
    async send(message, signal) {
      const found = find(message.name, message.account_id)
      return found === undefined ? refusedAs('undeclared') : found.publisher.send(message, signal)
    },
    async close() {
      await Promise.all(Array.from(declared.values(), ({ publisher }) => publisher.close()))
    },
  }
}

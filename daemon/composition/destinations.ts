import { HTTPS_TYPE, destinationOf } from '../../lib/webhook/destination.ts'
import type { Destination } from '../../plugins/destinations/contract.ts'
import { DESTINATIONS } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'
import type { Destinations } from '../events/sender.ts'
import type { Closers } from './closers.ts'

/** A destination of a plugin, which is closed by whoever created it. */
export interface OwnDestination {
  /** How its plugin was named, for messages. */
  readonly label: string
  readonly destination: Destination
}

/**
 * Every type of webhook besides https: those that the settings declare, and those of plugins. Nothing is
 * connected yet.
 *
 * @throws ConfigError for a type that two have, and for a type or name that no url can have
 */
export async function openDestinations(
  config: Pick<Config, 'destinations'>,
  own: readonly OwnDestination[],
  closers: Closers,
): Promise<Destinations> {
  const { rabbitmq, redis } = config.destinations
  const builtIn = [
    ...(rabbitmq.length === 0 ? [] : [await DESTINATIONS.rabbitmq(rabbitmq)]),
    ...(redis.length === 0 ? [] : [await DESTINATIONS.redis(redis)]),
  ]
  for (const destination of builtIn) closers.push(() => destination.close())
  const label = 'KEYHOOK_DESTINATIONS is set'
  const all = [...builtIn.map((destination) => ({ label, destination })), ...own]
  const byType = new Map<string, Destination>()
  for (const one of all) {
    const type = typeOf(one)
    if (byType.has(type)) {
      throw new ConfigError(`${one.label}, and there is another destination of the type ${type}`)
    }
    byType.set(type, one.destination)
  }
  return byType
}

function typeOf({ label, destination }: OwnDestination): string {
  const { type, names } = destination.describe()
  if (destinationOf(`${type}:a`) === undefined) {
    throw new ConfigError(
      `${label}, whose type must be a-z, 0-9 and - after a letter, and neither http nor ${HTTPS_TYPE}`,
    )
  }
  const wrong = names.find((name) => destinationOf(`${type}:${name}`) === undefined)
  if (wrong === undefined) return type
  throw new ConfigError(
    `${label}, whose name ${JSON.stringify(wrong)} is not a-z, 0-9 and ._- after a letter`,
  )
}

/** The connections of one network; each set in order of entry. */
interface Network<Connection> {
  readonly busy: Set<Connection>
  readonly idle: Set<Connection>
}

/** The connections of a listener by network, and the rule for which one is closed. */
export interface Networks<Connection> {
  /** Adds a connection, idle at first; returns the connection to close for it, if any. */
  admit(name: string, connection: Connection): Admission<Connection>
  setBusy(name: string, connection: Connection, isBusy: boolean): void
  remove(name: string, connection: Connection): void
  /** Whether a limit is mostly used: the network's own, or the listener's. */
  isNearLimit(name: string): boolean
}

export type Admission<Connection> =
  | { readonly admitted: true; readonly closed?: Connection }
  | { readonly admitted: false; readonly limit: 'connections' | 'network_connections' }

export interface ConnectionLimits {
  /** Maximum connections of the listener. */
  readonly total: number
  /** Maximum connections of one network; behind a trusted proxy, its requests in progress. */
  readonly perNetwork: number
}

/** Share of a limit from which it counts as mostly used. */
const NEAR_LIMIT = 3 / 4

/**
 * A network alone may have `perNetwork` connections. Over a limit, a newcomer takes the place of another
 * connection, and is refused where none gives way:
 *
 * - At the limit of its network, the connection of that network that is idle for longest gives way.
 * - At the limit of the listener, a connection of the network that has most gives way, while that is more
 *   than the newcomer's network would have: the one idle for longest, else the newest busy one. Where no
 *   network has more, an idle connection gives way, of a network that has as many, or of its own.
 *
 * This is the rule of `createFairPool`, except that idle connections go first and cost nobody anything.
 */
export function createNetworks<Connection>(limits: ConnectionLimits): Networks<Connection> {
  const { total, perNetwork } = limits
  const networks = new Map<string, Network<Connection>>()
  let used = 0

  function countOf(name: string): number {
    const network = networks.get(name)
    return network === undefined ? 0 : sizeOf(network)
  }

  function findHeaviest(suits: (name: string, network: Network<Connection>) => boolean) {
    let name: string | undefined
    let most = 0
    for (const [candidate, network] of networks) {
      const size = sizeOf(network)
      if (size > most && suits(candidate, network)) [name, most] = [candidate, size]
    }
    return name
  }

  /** The network of which a connection gives way to a newcomer of `name`. */
  function findVictim(name: string): string | undefined {
    const wanted = countOf(name) + 1
    if (wanted > perNetwork) return hasIdle(networks.get(name)) ? name : undefined
    return (
      findHeaviest((_, network) => sizeOf(network) > wanted) ??
      findHeaviest(
        (candidate, network) =>
          hasIdle(network) && (candidate === name || sizeOf(network) >= wanted),
      )
    )
  }

  function takeLeastUseful(name: string): Connection | undefined {
    const network = networks.get(name)
    if (network === undefined) return undefined
    let [connection] = network.idle
    if (connection === undefined) for (const newest of network.busy) connection = newest
    if (connection !== undefined) remove(name, connection)
    return connection
  }

  function remove(name: string, connection: Connection): void {
    const network = networks.get(name)
    if (network === undefined) return
    if (network.idle.delete(connection) || network.busy.delete(connection)) used -= 1
    if (sizeOf(network) === 0) networks.delete(name)
  }

  return {
    admit(name, connection) {
      const isOverOwn = countOf(name) >= perNetwork
      let closed: Connection | undefined
      if (isOverOwn || used >= total) {
        const victim = findVictim(name)
        if (victim === undefined) {
          return { admitted: false, limit: isOverOwn ? 'network_connections' : 'connections' }
        }
        closed = takeLeastUseful(victim)
      }
      const network = networks.get(name) ?? { busy: new Set(), idle: new Set() }
      networks.set(name, network)
      network.idle.add(connection)
      used += 1
      return closed === undefined ? { admitted: true } : { admitted: true, closed }
    },
    setBusy(name, connection, isBusy) {
      const network = networks.get(name)
      if (network === undefined) return
      const [from, to] = isBusy ? [network.idle, network.busy] : [network.busy, network.idle]
      if (from.delete(connection)) to.add(connection)
    },
    remove,
    isNearLimit: (name) => used > NEAR_LIMIT * total || countOf(name) > NEAR_LIMIT * perNetwork,
  }
}

function sizeOf({ busy, idle }: Network<unknown>): number {
  return busy.size + idle.size
}

function hasIdle(network: Network<unknown> | undefined): boolean {
  return network !== undefined && network.idle.size > 0
}

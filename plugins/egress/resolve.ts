import { lookup, Resolver } from 'node:dns/promises'
import type { Millis } from '../../lib/time.ts'

/** Gives every address of a lower-case, dotless name, IPv4 and IPv6; none when it has no address. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface ResolverOptions {
  /** For one question to one server; each is asked at most twice. */
  readonly timeout: Millis
  /**
   * Names that the operator lists: they go to the system's resolver, which also knows the hosts
   * file and search domains. Default: none.
   */
  readonly systemHosts?: readonly string[]
}

/** An answer that says "there is none", as opposed to no answer. */
const EMPTY_ANSWERS: ReadonlySet<unknown> = new Set(['ENODATA', 'ENOTFOUND'])

/**
 * Creates a resolver that asks the DNS servers themselves. Unlike `dns.lookup` it neither reads the
 * hosts file nor waits in the thread pool behind password hashing.
 *
 * @example
 * const resolve = createResolver({ timeout: 2000, systemHosts: ['localhost'] })
 * await resolve('localhost') // ['127.0.0.1', '::1']
 */
export function createResolver({ timeout, systemHosts = [] }: ResolverOptions): Resolve {
  const resolver = new Resolver({ timeout, tries: 2 })
  const system = new Set(systemHosts)
  return async (hostname) => {
    if (system.has(hostname)) {
      const answers = await lookup(hostname, { all: true })
      return answers.map(({ address }) => address)
    }
    // The final dot keeps search domains out: "x" must never become "x.cluster.local".
    const name = `${hostname}.`
    const settled = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    if (addresses.length > 0) return addresses
    const failure = settled.find((one) => one.status === 'rejected' && !isEmpty(one.reason))
    if (failure?.status === 'rejected') throw failure.reason
    return addresses
  }
}

/** Asks a resolver, whichever way it fails; undefined when there was no answer. */
export async function tryResolve(
  resolve: Resolve,
  hostname: string,
): Promise<readonly string[] | undefined> {
  try {
    return await resolve(hostname)
  } catch {
    return undefined
  }
}

/** Whether a failed question was answered: there is no such record. */
export function isEmpty(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && EMPTY_ANSWERS.has(reason.code)
}

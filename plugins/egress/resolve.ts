import { lookup, Resolver } from 'node:dns/promises'
import { type Millis, SECOND } from '../../lib/time.ts'
import { withoutFinalDot } from '../../lib/egress/allow-list.ts'
import { judgeName } from '../../lib/egress/name.ts'
import type { NameLookup } from './contract.ts'

/** Gives every address of a lower-case, dotless name, IPv4 and IPv6; none when it has no address. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface ResolverOptions {
  /** Per query and server; at most two queries per server. */
  readonly timeout: Millis
  /**
   * Names that the operator lists: they go to the system's resolver, which also knows the hosts
   * file and search domains. Default: none.
   */
  readonly systemHosts?: readonly string[]
}

/** Codes of an empty answer, as opposed to no answer. */
const EMPTY_ANSWERS: ReadonlySet<unknown> = new Set(['ENODATA', 'ENOTFOUND'])

/**
 * Creates a resolver that queries the DNS servers directly. Unlike `dns.lookup` it neither reads the hosts file
 * nor waits in the thread pool behind password hashing.
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

/** Resolves without throwing; undefined without an answer. */
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

/** Whether a failed query was answered: there is no such record. */
export function isEmpty(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && EMPTY_ANSWERS.has(reason.code)
}

export interface NameLookupOptions {
  /** Each an address, with or without a port. Default: those of the system. */
  readonly servers?: readonly string[]
  /** Per query and server; at most two queries per server. Default 1 s. */
  readonly timeout?: Millis
}

/** More than any name needs; an answer of 64 KiB holds thousands. */
const MAX_RECORDS = 64
/** Maximum time in timeouts, for any number of servers. */
const MAX_TIMEOUTS = 4

/**
 * Creates a lookup that queries the DNS servers directly, never the hosts file.
 *
 * @example
 * const names = createNameLookup({ servers: ['127.0.0.1:5353'] })
 * await names.texts('_service-challenge.shop.example.com') // ['3f2a…']
 */
export function createNameLookup({
  servers = [],
  timeout = SECOND,
}: NameLookupOptions = {}): NameLookup {
  const resolver = new Resolver({ timeout, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)

  async function ask(
    name: string,
    question: (name: string) => Promise<readonly string[]>,
  ): Promise<readonly string[] | undefined> {
    if (judgeName(name) !== undefined) return undefined
    // The final dot keeps search domains out.
    const answer = question(`${name}.`).catch((reason: unknown) =>
      isEmpty(reason) ? [] : undefined,
    )
    const records = await within(answer, MAX_TIMEOUTS * timeout)
    return records === undefined || records.length > MAX_RECORDS ? undefined : records
  }

  return {
    texts: (name) =>
      ask(name, async (asked) => (await resolver.resolveTxt(asked)).map((parts) => parts.join(''))),
    aliases: (name) =>
      ask(name, async (asked) =>
        (await resolver.resolveCname(asked)).map((alias) => withoutFinalDot(alias.toLowerCase())),
      ),
    async addresses(name) {
      const [four, six] = await Promise.all([
        ask(name, (asked) => resolver.resolve4(asked)),
        ask(name, (asked) => resolver.resolve6(asked)),
      ])
      return four === undefined || six === undefined ? undefined : [...four, ...six]
    },
  }
}

/** Undefined when it took longer. */
async function within<T>(answer: Promise<T>, longest: Millis): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), longest)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

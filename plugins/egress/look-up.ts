import { Resolver } from 'node:dns/promises'
import { withoutFinalDot } from '../../lib/egress/allow-list.ts'
import { judgeName } from '../../lib/egress/name.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { NameLookup } from './contract.ts'
import { isEmpty } from './resolve.ts'

export interface NameLookupOptions {
  /** Each an address, with or without a port. Default: those of the system. */
  readonly servers?: readonly string[]
  /** For one question to one server; each is asked at most twice. Default 1 s. */
  readonly timeout?: Millis
}

/** Nobody needs more under one name, and an answer of 64 KiB holds thousands. */
const MAX_RECORDS = 64
/** Times the timeout, however many servers there are. */
const LONGEST = 4

/**
 * Creates a lookup that asks the DNS servers themselves, never the hosts file.
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
    const records = await within(answer, LONGEST * timeout)
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

import { judgeAddress, parseAddress } from './address.ts'
import { listsAddress, listsHost, withoutFinalDot, type AllowList } from './allow-list.ts'
import { judgeName } from './name.ts'
import { isOwnListener } from './own-hosts.ts'
import type { RefusalReason } from './refusals.ts'

export { parseAllowList, type AllowList } from './allow-list.ts'
export { REFUSALS, type RefusalReason } from './refusals.ts'

/** Permitted targets of outbound requests. */
export interface EgressPolicy {
  /** Schemes of public targets. A target that the operator lists may also be plain http. */
  readonly schemes: readonly ('https' | 'http')[]
  readonly allow: AllowList
  /** Our own listeners, which are refused even when listed: `host:port`, IPv6 in brackets. */
  readonly ownHosts?: readonly string[]
}

/** A permitted url in canonical form, in which it is stored, compared and connected to. */
export interface CanonicalTarget {
  readonly href: string
  readonly origin: string
  readonly protocol: 'https:' | 'http:'
  /** Lower-case, without a final dot and without brackets. */
  readonly hostname: string
  readonly port: number
  /** Path and query. */
  readonly path: string
  /** Whether the host is an address, which needs no DNS lookup. */
  readonly literal: boolean
  readonly allowed: 'public' | 'listed'
}

export type UrlVerdict =
  | { readonly ok: true; readonly url: CanonicalTarget }
  | { readonly ok: false; readonly reason: RefusalReason }

export type AnswersVerdict =
  | {
      readonly ok: true
      readonly addresses: readonly string[]
      /** Whether the allow list names the host or any of its addresses. */
      readonly listed: boolean
    }
  | { readonly ok: false; readonly reason: RefusalReason }

const MAX_LENGTH = 2048
const MAX_ANSWERS = 16

/** Ports above 1023 that browsers block (Fetch standard, "Port blocking"). */
const BAD_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10_080,
])

/**
 * Reasons that a listed name does not override, only a listed block or address: whoever controls the DNS
 * of the name could otherwise reach the metadata service of a cloud.
 */
const NEVER_BY_NAME: ReadonlySet<RefusalReason> = new Set([
  'address_link_local',
  'address_malformed',
  'address_metadata',
  'address_zone',
])

const DEFAULT_PORTS = { 'https:': 443, 'http:': 80 } as const

/** Faults on which URL parsers disagree. They are found in the raw text, before it is parsed. */
const TEXT_FAULTS: readonly (readonly [RefusalReason, (text: string) => boolean])[] = [
  ['too_long', (text) => text.length > MAX_LENGTH],
  ['control_character', (text) => /[\p{Cc}\p{Z}]/u.test(text)],
  ['backslash', (text) => text.includes('\\')],
  // WHATWG parsers also read "https:host" and "https:///host" as a host.
  ['malformed', (text) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)],
  ['scheme', (text) => !/^https?:/i.test(text)],
  ['malformed', (text) => /^[^/]*\/\/(?:[/?#]|$)/.test(text)],
  ['userinfo', (text) => /^[^/]*\/\/[^/?#]*@/.test(text)],
  ['fragment', (text) => text.includes('#')],
]

/**
 * Judges a url by its text alone and returns its canonical form. A host name must also be judged by the
 * addresses it resolves to, see `judgeAnswers`.
 *
 * @example
 * const policy = { schemes: ['https'], allow: parseAllowList('') } as const
 * judgeUrl('https://hooks.example.com./in', policy) // ok, href 'https://hooks.example.com/in'
 * judgeUrl('https://0x7f.1/', policy) // { ok: false, reason: 'address_loopback' }
 */
export function judgeUrl(text: string, policy: EgressPolicy): UrlVerdict {
  const fault = TEXT_FAULTS.find(([, applies]) => applies(text))
  if (fault) return { ok: false, reason: fault[0] }
  if (!URL.canParse(text)) return { ok: false, reason: 'malformed' }
  const target = canonicalise(new URL(text), policy.allow)
  const reason = judgeTarget(target, policy)
  return reason ? { ok: false, reason } : { ok: true, url: target }
}

function canonicalise(url: URL, allow: AllowList): CanonicalTarget {
  const protocol = url.protocol === 'https:' ? 'https:' : 'http:'
  const host = withoutFinalDot(url.hostname)
  const hostname = host.replace(/^\[(.*)\]$/, '$1')
  const literal = parseAddress(hostname) !== undefined
  const port = url.port === '' ? DEFAULT_PORTS[protocol] : Number(url.port)
  const lists = literal ? listsAddress : listsHost
  const origin = `${protocol}//${host}${url.port === '' ? '' : `:${url.port}`}`
  const path = url.pathname + url.search
  const allowed = lists(allow, hostname, port) ? 'listed' : 'public'
  return { href: origin + path, origin, protocol, hostname, port, path, literal, allowed }
}

function judgeTarget(target: CanonicalTarget, policy: EgressPolicy): RefusalReason | undefined {
  const { hostname, port, protocol } = target
  if (target.href.length > MAX_LENGTH) return 'too_long'
  if (isOwnListener(hostname, port, policy.ownHosts ?? [])) return 'own_listener'
  if (target.allowed === 'listed') return port === 0 ? 'port' : undefined
  if (!policy.schemes.some((scheme) => `${scheme}:` === protocol)) return 'scheme'
  if (port !== 80 && port !== 443 && (port < 1024 || BAD_PORTS.has(port))) return 'port'
  if (!target.literal) return judgeName(hostname)
  const verdict = judgeAddress(hostname)
  return verdict.public ? undefined : verdict.reason
}

/**
 * Judges the addresses that a host name resolved to. One forbidden address refuses all of them: a mixed
 * answer indicates DNS rebinding. Connect only to the returned addresses.
 *
 * @example
 * const policy = { schemes: ['https'], allow: parseAllowList('') } as const
 * judgeAnswers(['8.8.8.8', '::1'], { hostname: 'hooks.example.com', port: 443 }, policy)
 * // { ok: false, reason: 'address_loopback' }
 */
export function judgeAnswers(
  addresses: readonly string[],
  target: Pick<CanonicalTarget, 'hostname' | 'port'>,
  policy: EgressPolicy,
): AnswersVerdict {
  if (addresses.length === 0) return { ok: false, reason: 'no_answer' }
  if (addresses.length > MAX_ANSWERS) return { ok: false, reason: 'too_many_answers' }
  const isListedName = listsHost(policy.allow, target.hostname, target.port)
  let listed = isListedName
  for (const address of addresses) {
    const reason = judgeAnswer(address, target.port, isListedName, policy)
    if (reason) return { ok: false, reason }
    listed ||= listsAddress(policy.allow, address, target.port)
  }
  return { ok: true, addresses: [...new Set(addresses)], listed }
}

function judgeAnswer(
  address: string,
  port: number,
  isListedName: boolean,
  policy: EgressPolicy,
): RefusalReason | undefined {
  if (isOwnListener(address, port, policy.ownHosts ?? [])) return 'own_listener'
  if (listsAddress(policy.allow, address, port)) return undefined
  const verdict = judgeAddress(address)
  if (verdict.public) return undefined
  return isListedName && !NEVER_BY_NAME.has(verdict.reason) ? undefined : verdict.reason
}

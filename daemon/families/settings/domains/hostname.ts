import { domainToASCII } from 'node:url'
import { getPublicSuffix } from 'tldts'
import { parseAddress } from '../../../../lib/egress/address.ts'
import { withoutFinalDot } from '../../../../lib/egress/allow-list.ts'
import type { NameRefusal } from '../../../../lib/egress/name.ts'
import { judgeName } from '../../../../lib/egress/name.ts'
import { settingsError } from '../errors.ts'

/** RFC 1123, 2.1: letters, digits, and hyphens between them. */
const LABELS = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/

/** Characters at which URL parsers end or decode a host, and the wildcard. */
const NO_HOST = /[\s/\\:?#@%[\]*]/

const RESERVED: Readonly<Record<Exclude<NameRefusal, 'name_label'>, string>> = {
  name_numeric: 'This is an address, or may be read as one.',
  name_single_label: 'A hostname has at least one dot.',
  name_special: 'Names of this ending lead nowhere on the public internet.',
}

/**
 * The canonical form of a hostname: lower case, without a final dot, in punycode when it is not ASCII.
 *
 * @param own hosts of the service itself: neither they nor names below them can be claimed
 * @throws KeyhookError `invalid_hostname`, `reserved_hostname`
 */
export function readHostname(text: string, own: readonly string[]): string {
  if (parseAddress(text.replace(/^\[(.*)\]$/, '$1')) !== undefined) {
    throw refuse('reserved_hostname', RESERVED.name_numeric)
  }
  const hostname = NO_HOST.test(text) ? '' : withoutFinalDot(domainToASCII(text))
  // Punycode turns an address in disguise, such as 0x7f.1, into the plain one.
  const fault = judgeName(hostname)
  if (fault === 'name_label' || !LABELS.test(hostname)) throw refuse('invalid_hostname')
  if (fault !== undefined) throw refuse('reserved_hostname', RESERVED[fault])
  if (own.some((host) => isWithin(hostname, host))) {
    throw refuse('reserved_hostname', "This is a name of the service's own.")
  }
  if (isPublicSuffix(hostname)) {
    throw refuse('reserved_hostname', 'Many share this name. Give one below it that is yours.')
  }
  return hostname
}

/**
 * Whether a registry, or a host of many sites, gives names below it to anyone (Public Suffix List,
 * including its private part).
 *
 * @example
 * isPublicSuffix('co.uk') // true
 * isPublicSuffix('example.co.uk') // false
 */
export function isPublicSuffix(hostname: string): boolean {
  return getPublicSuffix(hostname, { allowPrivateDomains: true }) === hostname
}

/** Whether a name equals another or is below it. */
export function isWithin(name: string, other: string): boolean {
  return name === other || name.endsWith(`.${other}`)
}

function refuse(code: 'invalid_hostname' | 'reserved_hostname', message?: string): Error {
  const text = message ?? settingsError.rows[code].text
  return settingsError(code, { errors: [{ location: 'body.hostname', code, message: text }] })
}

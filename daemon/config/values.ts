import type { RetrySchedule } from '../../lib/delivery/schedule.ts'
import { parseSchedule } from '../../lib/delivery/schedule.ts'
import type { Cidr } from '../../lib/egress/address.ts'
import { judgeAddress, parseAddress, parseCidr } from '../../lib/egress/address.ts'
import type { MasterKey } from '../../lib/engine/keyring.ts'
import { parseMasterKeys } from '../../lib/engine/keyring.ts'
import { SPEC_SCOPES, createUniverse } from '../../lib/scope/syntax.ts'
import { isEventType } from '../../lib/webhook/event.ts'
import { brandNames } from '../../lib/webhook/headers.ts'
import { isEmail, isNewPassword } from '../authority/credentials.ts'
import type { BillingMode } from '../billing/billing.ts'
import { isHostName } from '../hosting/target.ts'
import { MODEL_NAME } from '../operations/patterns.ts'

export function parseBaseUrl(text: string): string {
  const url = URL.parse(text)
  const plain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (!plain || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error('must be an http or https address without credentials, query or fragment')
  }
  return url.href.replace(/\/$/, '')
}

/** A key is sent there: over https, or on this machine. */
export function parseRemoteUrl(text: string): string {
  const href = parseBaseUrl(text)
  const { protocol, hostname } = new URL(href)
  if (protocol === 'https:' || LOOPBACK.has(hostname)) return href
  throw new Error('must be an https address, because a key is sent there; http is for loopback')
}

export function parseRemoteKey(text: string): string {
  if (/^[\x21-\x7e]{1,500}$/.test(text)) return text
  throw new Error('must be a developer key or the operator token')
}

/** A domain name, not an address: apps have names below it. */
export function parseDomain(text: string): string {
  const domain = text.toLowerCase()
  if (isHostName(domain) && !/(^|\.)\d+$/.test(domain)) return domain
  throw new Error('must be a domain, such as apps.example.net, without a port')
}

export function parseAppsUrl(text: string): string {
  const { origin, pathname, hostname } = new URL(parseBaseUrl(text))
  if (pathname !== '/') throw new Error('must be an address without a path')
  parseDomain(hostname)
  return origin
}

/** Exact origins of pages: over https, or on this machine. Each is a source expression that permits nothing else. */
export function parseOrigins(text: string): readonly string[] {
  const origins = elementsOf(text)
  if (origins.length <= MOST_ORIGINS && origins.every(isExactOrigin)) {
    return [...new Set(origins)]
  }
  throw new Error(
    `must be at most ${MOST_ORIGINS} origins, such as https://app.example.com, without paths and *; http is for loopback`,
  )
}

/** They are in a header of every page. */
const MOST_ORIGINS = 50

function isExactOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.origin !== text || /[^\x21-\x7e]|[*;,']/.test(text)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname))
}

export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Error('must be a whole number from 0 to 65535')
}

/** Requests per minute; 0 means no limit. */
export function parseRate(text: string): number {
  if (/^\d{1,7}$/.test(text) && Number(text) <= 1_000_000) return Number(text)
  throw new Error('must be a whole number from 0 to 1000000')
}

/** Names that resolve to cloud metadata services, and never to a model. */
const NO_MODEL: ReadonlySet<string> = new Set([
  'address_link_local',
  'address_metadata',
  'address_zone',
])

/** The operator may name any server, private ones included, except cloud metadata services. */
export function parseModelUrl(text: string): string {
  const href = parseBaseUrl(text)
  const verdict = judgeAddress(new URL(href).hostname.replace(/^\[(.*)\]$/, '$1'))
  if (!verdict.public && NO_MODEL.has(verdict.reason)) {
    throw new Error('must not be a link-local address, or where a cloud keeps its metadata')
  }
  return href
}

/** A value that a header can hold. */
export function parseModelKey(text: string): string {
  if (/^[\x21-\x7e]{1,4096}$/.test(text)) return text
  throw new Error('must be 1 to 4096 printable characters without spaces')
}

/** Values of `model` in a request, at most 100. */
export function parseModels(text: string): readonly string[] {
  const models = elementsOf(text)
  if (models.length <= 100 && models.every((model) => MODEL_NAME.test(model))) return models
  throw new Error('must be at most 100 models, each 1 to 100 letters, digits or _ . : / @ + -')
}

/** The package or path of a plugin. */
export function parsePlugin(text: string): readonly string[] {
  if (/^[^\s,]+$/.test(text)) return text === BUILT_IN ? [] : [text]
  throw new Error('must be one package or absolute path of a plugin')
}

/** What replaces nothing. */
const BUILT_IN = 'built-in'

/** Packages or paths of plugins, each once. */
export function parsePlugins(text: string): readonly string[] {
  const names = elementsOf(text)
  if (names.every((name) => /^\S+$/.test(name)) && new Set(names).size === names.length) {
    return names.filter((name) => name !== BUILT_IN)
  }
  throw new Error('must be packages or absolute paths of plugins, each once')
}

/** `none`, `internal`, a built-in processor, or the package or path of another one. */
export function parseBilling(text: string): BillingMode {
  if (/^\S+$/.test(text)) return text
  throw new Error('must be none, internal, stripe, or the package or path of a module')
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** The origin of a server on this machine. */
export function parseLoopbackUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url !== undefined && url.href === `${url.origin}/`
  if (isOrigin && LOOPBACK.has(url.hostname) && /^https?:$/.test(url.protocol)) return url.origin
  throw new Error('must be the origin of a server on loopback, such as http://127.0.0.1:12111')
}

/** A currency of ISO 4217. */
export function parseCurrency(text: string): string {
  if (/^[A-Z]{3}$/.test(text)) return text
  throw new Error('must be three capital letters, such as USD')
}

/** Forms of a database address, for messages. */
export const DATABASE_FORMS = 'sqlite:<path of a file>, without file: and ?options, or postgres://…'

/** Whether it is a URI of SQLite's own form, which would name a file of exactly that name. */
export function isSqliteUri(file: string): boolean {
  return /^file:/i.test(file) || file.includes('?')
}

/** A file's path, or a PostgreSQL address as it stands. */
export function parseDatabaseUrl(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text)) return text
  const [, file] = /^sqlite:(?:\/\/)?(.+)$/.exec(text) ?? []
  if (file === undefined || isSqliteUri(file)) throw new Error(`must be ${DATABASE_FORMS}`)
  if (file === ':memory:') throw new Error('must be a file: a database in memory loses every event')
  return file
}

export function parseOperatorToken(text: string): string {
  if (!/^[\x21-\x7e]{32,512}$/.test(text)) {
    throw new Error('must be 32 to 512 printable characters without spaces')
  }
  if (/^[a-z][a-z0-9]*_dk_/.test(text)) {
    throw new Error('must not begin as a developer key does, or it would be read as one')
  }
  return text
}

/** What may create a user, as over the API. */
export function parseOwnerEmail(text: string): string {
  if (isEmail(text)) return text
  throw new Error('must be an email address')
}

export function parseOwnerPassword(text: string): string {
  if (isNewPassword(text)) return text
  throw new Error('must be 12 to 128 characters')
}

export function parseBrand(text: string): string {
  try {
    brandNames(text)
  } catch (cause) {
    throw new Error('must be a lower-case letter and up to 30 lower-case letters or digits', {
      cause,
    })
  }
  return text
}

export function parseColor(text: string): string {
  if (/^#[0-9a-f]{6}$/i.test(text)) return text
  throw new Error('must be a colour such as #0a7d5a')
}

/** Each `id:base64` of 32 bytes, separated by commas. */
export function readMasterKeys(text: string): readonly MasterKey[] {
  try {
    return parseMasterKeys(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^master /, '') : String(cause)
    throw new Error(`cannot be used: ${reason}`, { cause })
  }
}

export function parseRetrySchedule(text: string): RetrySchedule {
  try {
    return parseSchedule(text)
  } catch (cause) {
    throw new Error('must be 1 to 20 delays in whole seconds, each from 0 to 604800', { cause })
  }
}

/** `orders:read|write,invoices:read` as families with their actions. */
export function parseScopeFamilies(text: string): Readonly<Record<string, readonly string[]>> {
  const families = elementsOf(text).map((element) => {
    const [, family = '', actions = ''] = /^(\w+):([\w|]+)$/.exec(element) ?? []
    if (Object.hasOwn(SPEC_SCOPES, family)) {
      throw new Error(`must not redeclare ${family}, a family of the service`)
    }
    return [family, actions.split('|')] as const
  })
  const names = families.map(([family]) => family)
  const twice = names.find((family, index) => names.indexOf(family) !== index)
  if (twice !== undefined) throw new Error(`must name ${twice} once, with all of its actions`)
  const declared = Object.fromEntries(families)
  try {
    createUniverse(declared)
  } catch (cause) {
    throw new Error('must be families with their actions, such as orders:read|write', { cause })
  }
  return declared
}

export function parseEventTypes(text: string): readonly string[] {
  const types = elementsOf(text)
  const bad = types.find((type) => !isEventType(type))
  if (bad === undefined) return types
  throw new Error(`must be dotted lower-case words, such as order.paid, and ${bad} is not`)
}

/** `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1`, `[2001:db8::1]:5353`. */
export function parseNameServers(text: string): readonly string[] {
  const servers = elementsOf(text)
  const bad = servers.find((server) => {
    const [, bracketed, plain, port = '53'] =
      /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(server) ?? []
    const address = parseAddress(bracketed ?? plain ?? server)
    return address === undefined || Number(port) < 1 || Number(port) > 65_535
  })
  if (bad === undefined) return servers
  throw new Error(`must be addresses, each with an optional :port, and ${bad} is not`)
}

/** Addresses and CIDRs. */
export function parseBlocks(text: string): readonly Cidr[] {
  return elementsOf(text).map((element) => {
    const block = parseCidr(element)
    if (block === undefined)
      throw new Error(`must be addresses or CIDRs, and ${element} is neither`)
    return block
  })
}

function elementsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((element) => element.trim())
    .filter((element) => element !== '')
}

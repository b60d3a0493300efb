import { getDomain } from 'tldts'
import { judgeAddress } from '../../lib/egress/address.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'
import type { AppsHosting } from '../platform.ts'

/** Documented default; the daemon of a test uses free ports for both. */
const DEFAULT_PORT = 8421
const DEFAULT_DOMAIN = 'localhost'

type HostingConfig = Pick<Config, 'apps' | 'appsPort' | 'appsDomain' | 'appsUrl' | 'port'>

/** Requested port; 0 for a free one. */
export function appsPortOf({ appsPort, port }: HostingConfig): number {
  return appsPort ?? (port === 0 ? 0 : DEFAULT_PORT)
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/**
 * Refuses the same port for both listeners, unless each has its own address.
 *
 * @throws ConfigError
 */
export function requireTwoPorts(config: HostingConfig & Pick<Config, 'host' | 'appsHost'>): void {
  const { apps, host, appsHost = host, port } = config
  if (apps === 'off' || port === 0 || port !== appsPortOf(config)) return
  const isShared = host === appsHost || [host, appsHost].some((one) => EVERY_ADDRESS.has(one))
  if (!isShared) return
  throw new ConfigError(
    `KEYHOOK_PORT and KEYHOOK_APPS_PORT (by default ${DEFAULT_PORT}) are both ${port}. Set one of them to another port`,
  )
}

/**
 * Addresses of apps; undefined when this daemon serves none and no domain is configured.
 *
 * @param port port of their listener
 */
export function appsHostingOf(config: HostingConfig, port: number): AppsHosting | undefined {
  const { apps, appsDomain, appsUrl } = config
  if (apps === 'off' && appsUrl === undefined) return undefined
  const own = `http://${appsDomain ?? DEFAULT_DOMAIN}${port === 0 ? '' : `:${port}`}`
  const { protocol, host, hostname } = new URL(appsUrl ?? own)
  return { domain: hostname, urlOf: (name) => `${protocol}//${name}.${host}` }
}

/**
 * Warning when apps share a site with the service itself: a page of an app could then set cookies that are
 * sent to the service. Undefined when they do not.
 */
export function sharedSite({ domain }: AppsHosting, baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl)
  if (isLocal(hostname) || isLocal(domain) || !isSameSite(domain, hostname)) return undefined
  return (
    `KEYHOOK_APPS_DOMAIN ${domain} seems to be of the same site as KEYHOOK_BASE_URL ${hostname}: ` +
    'serve apps under a domain that is registered for them alone'
  )
}

function isLocal(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  const verdict = judgeAddress(host.replace(/^\[(.*)\]$/, '$1'))
  return !verdict.public && verdict.reason === 'address_loopback'
}

function isSameSite(one: string, other: string): boolean {
  return registeredDomain(one) === registeredDomain(other)
}

/** An address or a public suffix is its own site. */
function registeredDomain(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host
}

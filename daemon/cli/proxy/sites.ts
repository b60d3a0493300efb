import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/config.ts'
import { appsHostingOf, appsPortOf } from '../../hosting/apps-hosting.ts'

/** A public address, and the listeners of daemons behind it. */
export interface Site {
  /** A host name, or a name for each app: `*.apps.example.net`. */
  readonly name: string
  readonly port: number
  readonly certificate: Certificate | undefined
  /** `host:port` of each daemon. */
  readonly upstreams: readonly string[]
}

/** Paths of files. */
export interface Certificate {
  readonly chain: string
  readonly key: string
}

/** What a proxy passes on. */
export interface Sites {
  readonly api: Site
  /** Undefined: no app is served to the public. */
  readonly apps: Site | undefined
  /** Port of the API, where each daemon says whether it is ready. */
  readonly healthPort: number
  /** Whose certificates are files; a proxy may obtain the others. */
  readonly certified: 'all' | 'apps only' | 'by the proxy itself'
}

export interface SiteOptions {
  /** Hosts of daemons. Default: where this one listens. */
  readonly upstream?: readonly string[]
  readonly certificates?: string
  /** The proxy signs every certificate itself: a network without public names. */
  readonly internalCa?: boolean
}

type ProxiedConfig = Pick<
  Config,
  'baseUrl' | 'host' | 'port' | 'apps' | 'appsHost' | 'appsPort' | 'appsDomain' | 'appsUrl'
>

/** Idle connections end before the daemon ends them, 95 seconds after their last response. */
export const IDLE_SECONDS = 60

const CERTIFICATES = '/etc/keyhook/tls'

/**
 * The sites of a daemon, by its settings.
 *
 * @throws ConfigError that names the setting that is missing
 */
export function sitesOf(config: ProxiedConfig, options: SiteOptions): Sites {
  const { baseUrl, host, port, apps, appsHost = host, appsUrl } = config
  if (baseUrl === undefined) {
    throw new ConfigError(
      'KEYHOOK_BASE_URL must be the public address of the API, behind the proxy',
    )
  }
  if (port === 0) throw new ConfigError('KEYHOOK_PORT must be a fixed port behind a proxy')
  const { pathname } = new URL(baseUrl)
  if (pathname !== '/') {
    throw new ConfigError(`KEYHOOK_BASE_URL has the path ${pathname}, and no example shows that`)
  }
  const appsPort = appsPortOf(config)
  const domain = appsUrl === undefined ? undefined : appsHostingOf(config, appsPort)?.domain
  const to = (own: string, at: number): readonly string[] =>
    (options.upstream ?? [reachable(own)]).map((one) => `${printHost(one)}:${at}`)
  const folder = options.certificates ?? CERTIFICATES
  return {
    api: siteOf(new URL(baseUrl), '', folder, to(host, port)),
    apps:
      apps === 'off' || appsUrl === undefined || domain === undefined
        ? undefined
        : siteOf(new URL(appsUrl), '*.', folder, to(appsHost, appsPort)),
    healthPort: port,
    certified: certifiedBy(options),
  }
}

function certifiedBy({ certificates, internalCa = false }: SiteOptions): Sites['certified'] {
  if (internalCa) return 'by the proxy itself'
  return certificates === undefined ? 'apps only' : 'all'
}

function siteOf(
  { protocol, hostname, port }: URL,
  prefix: '' | '*.',
  folder: string,
  upstreams: readonly string[],
): Site {
  const isTls = protocol === 'https:'
  const file = `${folder}/${hostname}`
  return {
    name: prefix + hostname,
    port: Number(port) || (isTls ? 443 : 80),
    certificate: isTls ? { chain: `${file}.crt`, key: `${file}.key` } : undefined,
    upstreams,
  }
}

const REACHABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Where a proxy on the same machine reaches a listener of every address. */
function reachable(host: string): string {
  return REACHABLE[host] ?? host
}

function printHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

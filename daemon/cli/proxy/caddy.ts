import type { Site, Sites } from './sites.ts'
import { IDLE_SECONDS } from './sites.ts'

/** A Caddyfile. Caddy sets X-Forwarded-For itself, passes Host on, and limits no body. */
export function printCaddy({ api, apps, healthPort, certified }: Sites): string {
  const tlsOf = ({ certificate }: Site): string => {
    if (certificate === undefined) return ''
    if (certified === 'by the proxy itself') return '\ttls internal\n'
    return `\ttls ${certificate.chain} ${certificate.key}\n`
  }
  const sites = [
    // Caddy obtains the certificate of a single name itself.
    site(api, certified === 'apps only' ? '' : tlsOf(api), healthPort),
    ...(apps === undefined ? [] : [site(apps, tlsOf(apps), healthPort)]),
  ]
  return `# Caddy 2 in front of Keyhook. The daemon bounds every body and every slow reader.\n\n${sites.join('\n')}`
}

function site({ name, port, upstreams }: Site, tls: string, healthPort: number): string {
  return `${addressOf(name, port)} {
${tls}\treverse_proxy ${upstreams.join(' ')} {
		# What a stream says arrives as it is written.
		flush_interval -1
		# A daemon that starts again is waited for; one that stops says so first.
		lb_try_duration 10s
${upstreams.length > 1 ? several(healthPort) : ''}		transport http {
			keepalive ${IDLE_SECONDS}s
		}
	}
}
`
}

function several(healthPort: number): string {
  return `		lb_policy least_conn
		fail_duration 2s
		health_uri /readyz
		health_port ${healthPort}
		health_interval 1s
		health_timeout 2s
`
}

/** Without a port, Caddy serves https on 443 and leads http there. */
function addressOf(name: string, port: number): string {
  if (port === 443) return name
  return port === 80 ? `http://${name}` : `${name}:${port}`
}

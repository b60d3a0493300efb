import type { Site, Sites } from './sites.ts'
import { IDLE_SECONDS } from './sites.ts'

/** A file of Traefik 3's file provider. Traefik sets X-Forwarded-For itself, passes Host on, and limits no body. */
export function printTraefik({ api, apps, healthPort }: Sites): string {
  const sites = [['api', api] as const, ...(apps === undefined ? [] : [['apps', apps] as const])]
  const certificates = sites.flatMap(([, { certificate }]) => certificate ?? [])
  const tls = certificates.map(
    ({ chain, key }) => `    - certFile: ${chain}\n      keyFile: ${key}\n`,
  )
  return `# Traefik 3 in front of Keyhook: a file of its file provider. The entry points are named web and websecure.
# An upload longer than a minute needs entryPoints.websecure.transport.respondingTimeouts.readTimeout.
http:
  routers:
${sites.map(([name, site]) => router(name, site)).join('')}  services:
${sites.map(([name, site]) => service(name, site, healthPort)).join('')}  serversTransports:
    keyhook:
      forwardingTimeouts:
        idleConnTimeout: ${IDLE_SECONDS}s
${tls.length === 0 ? '' : `tls:\n  certificates:\n${tls.join('')}`}`
}

function router(name: string, { name: host, certificate }: Site): string {
  const isTls = certificate !== undefined
  return `    keyhook-${name}:
      rule: ${ruleOf(host)}
      service: keyhook-${name}
      entryPoints: [${isTls ? 'websecure' : 'web'}]
${isTls ? '      tls: {}\n' : ''}`
}

/** Names of apps are one label below their domain. */
function ruleOf(host: string): string {
  if (!host.startsWith('*.')) return `Host(\`${host}\`)`
  const domain = host.slice(2).replaceAll('.', '\\.')
  return `HostRegexp(\`^[^.]+\\.${domain}$\`)`
}

function service(name: string, { upstreams }: Site, healthPort: number): string {
  return `    keyhook-${name}:
      loadBalancer:
        serversTransport: keyhook
        responseForwarding:
          flushInterval: 1ms
        healthCheck:
          path: /readyz
          port: ${healthPort}
          interval: 1s
          timeout: 2s
        servers:
${upstreams.map((one) => `          - url: http://${one}\n`).join('')}`
}

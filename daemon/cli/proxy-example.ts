import type { Command } from 'commander'
import { Argument, Option } from 'commander'
import { ConfigError, readConfig } from '../config/config.ts'
import type { CommandPorts } from './operation-command.ts'
import { printCaddy } from './proxy/caddy.ts'
import { printNginx } from './proxy/nginx.ts'
import type { SiteOptions, Sites } from './proxy/sites.ts'
import { sitesOf } from './proxy/sites.ts'
import { printTraefik } from './proxy/traefik.ts'

const EXAMPLES: Readonly<Record<string, (sites: Sites) => string>> = {
  caddy: printCaddy,
  nginx: printNginx,
  traefik: printTraefik,
}

/** Defines `proxy-example`, which prints what belongs into the proxy for the settings of this daemon. */
export function defineProxyExample(
  command: Command,
  { terminal: { env, out, err } }: CommandPorts,
): void {
  command
    .addArgument(new Argument('<proxy>').choices(Object.keys(EXAMPLES)))
    .option('--upstream <hosts>', 'hosts of daemons, comma separated; default: this one', readHosts)
    .option('--certificates <folder>', 'of <name>.crt and <name>.key; default: /etc/keyhook/tls')
    .addOption(
      new Option('--internal-ca', 'Caddy signs all certificates itself').conflicts('certificates'),
    )
    .action((proxy: string, options: SiteOptions) => {
      if (options.internalCa === true && proxy !== 'caddy') {
        throw new ConfigError(`--internal-ca is of Caddy: give --certificates for ${proxy}`)
      }
      const config = readConfig(env)
      const sites = sitesOf(config, options)
      out(EXAMPLES[proxy]?.(sites) ?? '')
      if (config.trustedProxies.length > 0) return
      err('keyhook: warning: KEYHOOK_TRUSTED_PROXIES must name the address of the proxy\n')
    })
}

function readHosts(text: string): readonly string[] {
  return text.split(',').map((host) => host.trim())
}

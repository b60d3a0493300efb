import type { FileProcessor } from '../../plugins/files/contract.ts'
import { DEPLOYERS, EGRESS, NAME_LOOKUPS } from '../../plugins/registry.ts'
import type { Processing } from '../billing/billing.ts'
import type { Config } from '../config/config.ts'
import type { Machine, Plugins } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { Closable, Closers } from './closers.ts'
import { openEditor } from './editor.ts'
import { openEmbedder } from './embedder.ts'
import { openFileProcessor } from './file-processor.ts'

interface Ports extends Machine {
  /** Addresses of this process, which webhooks must not reach. */
  readonly ownHosts: readonly string[]
  readonly log: Log
}

/** Plugins that replace those of the settings; they are closed the same way. */
export type GivenPlugins = Partial<Omit<Plugins, 'appBytes'>> & {
  readonly processing?: Processing | undefined
}

/**
 * Opens plugins whose setting may be wrong, before a database is created or migrated.
 *
 * @throws ConfigError
 */
export async function openNamed(
  config: Config,
  given: GivenPlugins,
  closers: Closers,
): Promise<FileProcessor> {
  return closedWith(closers, given.fileProcessor ?? (await openFileProcessor(config)))
}

/** Opens the other plugins of the platform. */
export async function openPlugins(
  config: Config,
  { ownHosts, ...ports }: Ports,
  given: GivenPlugins,
  closers: Closers,
): Promise<Omit<Plugins, 'appBytes' | 'fileProcessor'>> {
  const options = { ...ports, ownHosts }
  const egress = closedWith(closers, given.egress ?? (await openEgress(config, ownHosts)))
  const editor = closedWith(closers, given.editor ?? (await openEditor(config, options)))
  const embedder = given.embedder ?? (await openEmbedder(config, options))
  if (embedder !== undefined) closedWith(closers, embedder)
  return {
    egress,
    nameLookup: given.nameLookup ?? (await NAME_LOOKUPS.dns({ servers: config.dnsServers })),
    deployer: closedWith(closers, given.deployer ?? (await DEPLOYERS.hosted())),
    editor,
    embedder,
  }
}

function closedWith<T extends Partial<Closable>>(closers: Closers, plugin: T): T {
  closers.push(() => plugin.close?.())
  return plugin
}

async function openEgress(config: Config, ownHosts: readonly string[]): Promise<Plugins['egress']> {
  const createEgress = await EGRESS.undici()
  return createEgress({
    policy: { schemes: ['https'], allow: config.webhookAllow, ownHosts },
    // Many webhooks may share an origin: waiting for a socket must not use up an attempt's time.
    maxSocketsPerOrigin: config.dispatchConcurrency,
    maxSockets: config.dispatchSockets,
    // A connection that takes longer than an attempt is of no use.
    connectTimeout: config.webhookTimeoutMs,
  })
}

import type { FileProcessor } from '../../plugins/files/contract.ts'
import type { Destination } from '../../plugins/destinations/contract.ts'
import type { ContractName, Contracts } from '../../plugins/plugin.ts'
import { JOB_KINDS } from '../../plugins/platform/contract/jobs.ts'
import {
  DEPLOYERS,
  EDITORS,
  EGRESS,
  FILE_PROCESSORS,
  NAME_LOOKUPS,
  combineReaders,
} from '../../plugins/registry.ts'
import type { Processing } from '../billing/billing.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'
import type { Family } from '../operations/family.ts'
import type { Machine, Plugins } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { Closable, Closers } from './closers.ts'
import { openEditor } from './editor.ts'
import { openEmbedder } from './embedder.ts'
import type { OwnDestination } from './destinations.ts'
import { openDestinations } from './destinations.ts'
import { createPlugin } from './extensions/create.ts'
import type { LoadedPlugin } from './extensions/load.ts'

interface Ports extends Machine {
  /** Addresses of this process, which webhooks must not reach. */
  readonly ownHosts: readonly string[]
  readonly log: Log
  /** Whether several processes use the store. */
  readonly isShared: boolean
}

/** Plugins that replace those of the settings; they are closed the same way. */
export type GivenPlugins = Partial<Omit<Plugins, 'appBytes'>> & {
  readonly processing?: Processing | undefined
}

/** Plugins of the operator or the embedder. */
export interface Extensions {
  /** Contracts whose built-in implementation is not used. */
  readonly replaced: ReadonlySet<ContractName>
  /** Empty for a command that loads none: what it would need of them is unavailable. */
  readonly loaded: readonly LoadedPlugin[]
  /** Families besides the product's; empty for such a command too. */
  readonly families: readonly Family[]
}

export const NO_EXTENSIONS: Extensions = { replaced: new Set(), loaded: [], families: [] }

/** Opens the plugins of the platform, those of the operator first. */
export async function openPlugins(
  config: Config,
  { ownHosts, ...ports }: Ports,
  { given, extensions }: { readonly given: GivenPlugins; readonly extensions: Extensions },
  closers: Closers,
): Promise<Plugins> {
  const options = { ...ports, ownHosts }
  const own = await createExtensions(extensions.loaded, options, closers)
  const isReplaced = (contract: ContractName): boolean => extensions.replaced.has(contract)
  for (const destination of given.destinations?.values() ?? []) closedWith(closers, destination)
  const egress = closedWith(closers, given.egress ?? (await openEgress(config, ownHosts)))

  const openedBy = async <T extends Partial<Closable>>(
    contract: ContractName,
    present: T | undefined,
    open: () => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    if (isReplaced(contract)) return undefined
    const opened = present ?? (await open())
    return opened && closedWith(closers, opened)
  }
  return {
    egress,
    destinations: given.destinations ?? (await openDestinations(config, own.destinations, closers)),
    nameLookup: given.nameLookup ?? (await NAME_LOOKUPS.dns({ servers: config.dnsServers })),
    appBytes: own.apps,
    deployer: own.deploy ?? (await openedBy('deploy', given.deployer, DEPLOYERS.hosted)),
    editor:
      own.edits ??
      (await openedBy('edits', given.editor, () => openEditor(config, options))) ??
      (await EDITORS.none()),
    embedder:
      own.embeddings ??
      (await openedBy('embeddings', given.embedder, () => openEmbedder(config, options))),
    fileProcessor: await openReaders(own.files, async () =>
      isReplaced('files') && own.files.length === 0
        ? undefined
        : closedWith(closers, given.fileProcessor ?? (await openBuiltInReader())),
    ),
  }
}

interface Own extends Partial<Omit<Contracts, 'files' | 'destinations'>> {
  readonly files: readonly FileProcessor[]
  readonly destinations: readonly OwnDestination[]
}

/** Readers of plugins add to the built-in one, which is asked last. */
async function openReaders(
  own: readonly FileProcessor[],
  openOthers: () => Promise<FileProcessor | undefined>,
): Promise<FileProcessor | undefined> {
  const others = await openOthers()
  if (own.length === 0) return others
  return combineReaders(others === undefined ? own : [...own, others])
}

/** In the order in which they were named; they are closed in the reverse order. */
async function createExtensions(
  loaded: readonly LoadedPlugin[],
  machine: Ports,
  closers: Closers,
): Promise<Own> {
  const made: Partial<Record<ContractName, unknown>> = {}
  const files: FileProcessor[] = []
  const destinations: OwnDestination[] = []
  for (const one of loaded) {
    const plugin = await createPlugin(one, machine, closers)
    requireShared(one, plugin, machine)
    const { contract } = one.plugin
    if (contract === 'files') files.push(plugin as FileProcessor)
    else if (contract === 'destinations') {
      destinations.push({ label: one.label, destination: plugin as Destination })
    } else made[contract] = plugin
  }
  return { ...made, files, destinations } as Own
}

/** @throws ConfigError for a store of one process beside a database of many */
function requireShared({ label, plugin }: LoadedPlugin, made: object, { isShared }: Ports): void {
  const isFine = 'manyProcesses' in made && made.manyProcesses === true
  if (plugin.contract !== 'apps' || !isShared || isFine) return
  throw new ConfigError(
    `${label}, which does not say that several processes can share it (manyProcesses), as those of a ` +
      'PostgreSQL database do',
  )
}

function openBuiltInReader(): Promise<FileProcessor> {
  return FILE_PROCESSORS['built-in']({ children: JOB_KINDS.file.concurrency })
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

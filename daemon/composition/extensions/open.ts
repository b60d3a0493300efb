import type { Config } from '../../config/config.ts'
import type { DataFolder } from '../../machine/data-folder.ts'
import type { ContractName } from '../../../plugins/plugin.ts'
import type { Extensions } from '../plugins.ts'
import { loadFamilies } from './load-families.ts'
import { loadPlugins } from './load.ts'
import type { NamedPlugin } from './named.ts'
import { namedPlugins } from './named.ts'
import { recordPlugins } from './record.ts'

/**
 * Loads the plugins of the operator before anything is opened, and records what they are for `doctor`.
 *
 * @throws ConfigError of one line
 */
export async function loadExtensions(config: Config, folder: DataFolder): Promise<Extensions> {
  const named = await namedPlugins(config, config.dataDir)
  const loaded = await loadPlugins(named.filter(isOfContract), config)
  const families = await loadFamilies(named.filter((one) => !isOfContract(one)))
  await recordPlugins(folder.file('plugins.json'), named, { loaded, families })
  return { replaced: replacedBy(named), loaded, families: families.map(({ family }) => family) }
}

/** For a command that loads nothing: the built-in implementations are not used in place of plugins. */
export async function unloadedExtensions(config: Config): Promise<Extensions> {
  const named = await namedPlugins(config, config.dataDir)
  return { replaced: replacedBy(named), loaded: [], families: [] }
}

function replacedBy(named: readonly NamedPlugin[]): Extensions['replaced'] {
  return new Set(named.filter(isOfContract).map(({ contract }) => contract))
}

function isOfContract(one: NamedPlugin): one is NamedPlugin & { readonly contract: ContractName } {
  return one.contract !== 'families'
}

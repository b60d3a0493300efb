import type { ContractName, OptionValues, Plugin, PluginOptions } from '../../../plugins/plugin.ts'
import { definePlugin } from '../../../plugins/plugin.ts'
import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/config.ts'
import { importModule, reasonOf } from './import-module.ts'
import type { NamedPlugin } from './named.ts'

type Values = OptionValues<PluginOptions>

/** A plugin whose options are read, and that is not created yet. */
export interface LoadedPlugin<Name extends ContractName = ContractName> {
  /** How it was named, for messages. */
  readonly label: string
  readonly plugin: Plugin<Name>
  readonly options: Values
}

/**
 * Loads plugins, which runs their code, and reads their options from the environment.
 *
 * @throws ConfigError of one line for one that cannot be loaded, has another contract, or lacks an option
 */
export async function loadPlugins(
  named: readonly NamedPlugin[],
  config: Pick<Config, 'variable'>,
): Promise<readonly LoadedPlugin[]> {
  const loaded: LoadedPlugin[] = []
  for (const { label, named: name, contract } of named) {
    const { plugin: exported } = await importModule(label, name)
    if (exported === undefined) throw new ConfigError(`${label}, which exports no plugin`)
    const plugin = formOf(label, exported)
    if (plugin.contract !== contract) {
      throw new ConfigError(`${label}, which is a plugin of ${plugin.contract}`)
    }
    loaded.push({ label, plugin, options: readOptions(label, plugin, config.variable) })
  }
  return loaded
}

function formOf(label: string, exported: unknown): Plugin {
  try {
    return definePlugin(exported as Plugin)
  } catch (cause) {
    throw new ConfigError(`${label}, whose plugin has another form: ${reasonOf(cause)}`, { cause })
  }
}

/** @throws ConfigError for one that is required and missing */
function readOptions(
  label: string,
  { options = {} }: Plugin,
  variable: Config['variable'],
): Values {
  const values = Object.entries(options).map(([name, option]) => {
    const value = variable(option.env) ?? option.default
    if (value === undefined && option.required === true) {
      throw new ConfigError(`${label}, and ${option.env} must be set with it: ${option.doc}`)
    }
    return [name, value] as const
  })
  return Object.fromEntries(values)
}

import type { Kind } from '../../lib/internal/arguments.ts'
import {
  FUNCTION,
  NAME,
  OBJECT,
  either,
  isObject,
  optional,
  optionsOf,
  readOptions,
  recordOf,
} from '../../lib/internal/arguments.ts'
import type { PaymentProcessorPlugin } from '../../plugins/billing/contract.ts'
import type { ContractName, Plugin, PluginOptions } from '../../plugins/plugin.ts'
import { CONTRACTS, definePlugin } from '../../plugins/plugin.ts'
import type { LoadedPlugin } from '../composition/extensions/load.ts'
import type { Extensions } from '../composition/plugins.ts'
import type { GivenProcessor } from '../composition/processor.ts'
import { ConfigError } from '../config/config.ts'

/** Values of a plugin's options by name. */
export type GivenOptions = Readonly<Record<string, string | number | undefined>>

/** A plugin, alone or with its options. */
export type PluginChoice<Chosen> =
  | Chosen
  | { readonly plugin: Chosen; readonly options?: GivenOptions }

/** Plugins of an embedder, by their contracts. Default: the built-in implementations. */
export interface ChosenPlugins {
  readonly apps?: PluginChoice<Plugin<'apps'>>
  readonly edits?: PluginChoice<Plugin<'edits'>>
  /** Readers, which are asked before the built-in ones. */
  readonly files?: PluginChoice<Plugin<'files'>> | readonly PluginChoice<Plugin<'files'>>[]
  readonly deploy?: PluginChoice<Plugin<'deploy'>>
  readonly embeddings?: PluginChoice<Plugin<'embeddings'>>
  /** Types of webhooks besides https, which work together. */
  readonly destinations?:
    | PluginChoice<Plugin<'destinations'>>
    | readonly PluginChoice<Plugin<'destinations'>>[]
  /** Names the mode of billing, so that `billing` is left out. */
  readonly billing?: PluginChoice<PaymentProcessorPlugin>
}

const WITH_OPTIONS = optionsOf({ plugin: OBJECT, options: optional(OBJECT) })

const CHOICE = either(
  { ...recordOf({ contract: NAME, create: FUNCTION }), allowed: 'a plugin' },
  { ...recordOf({ plugin: OBJECT }), allowed: '{ plugin, options }' },
)

const CHOICES: Kind = {
  allowed: `${CHOICE.allowed}, or a non-empty list of these`,
  accepts: (value) =>
    CHOICE.accepts(value) ||
    (Array.isArray(value) && value.length > 0 && value.every((one) => CHOICE.accepts(one))),
}

const PROCESSOR = either(
  { ...recordOf({ name: NAME, open: FUNCTION }), allowed: 'a payment processor' },
  { ...recordOf({ plugin: OBJECT }), allowed: '{ plugin, options }' },
)

/** The option `plugins` of `createKeyhook`. */
export const PLUGINS: Kind = optionsOf({
  ...Object.fromEntries(Object.keys(CONTRACTS).map((name) => [name, optional(CHOICE)])),
  files: optional(CHOICES),
  destinations: optional(CHOICES),
  billing: optional(PROCESSOR),
})

/**
 * Reads the plugins that an embedder hands over.
 *
 * @throws TypeError for one of another form or contract, and for an unknown option; ConfigError for an option
 *   that is missing
 */
export function readPlugins(given: ChosenPlugins): Extensions {
  const loaded = (Object.keys(CONTRACTS) as ContractName[]).flatMap((contract) => {
    const choice = given[contract]
    const choices = choice === undefined ? [] : [choice].flat()
    return choices.map((one) => readChoice(contract, one as PluginChoice<Plugin>))
  })
  const replaced = new Set(loaded.map(({ plugin }) => plugin.contract))
  return { replaced, loaded, families: [] }
}

function readChoice(contract: ContractName, choice: PluginChoice<Plugin>): LoadedPlugin {
  const path = `options.plugins.${contract}`
  const { plugin: chosen, options: values = {} } = partsOf(path, choice)
  const plugin = definePlugin(chosen)
  if (plugin.contract !== contract) {
    throw new TypeError(`createKeyhook: ${path} is a plugin of ${plugin.contract}`)
  }
  const label = `plugins.${contract} is ${plugin.name}`
  return { label, plugin, options: valuesOf(label, path, plugin.options ?? {}, values) }
}

function partsOf<Chosen extends object>(
  path: string,
  choice: PluginChoice<Chosen>,
): { readonly plugin: Chosen; readonly options?: GivenOptions } {
  if (!('plugin' in choice)) return { plugin: choice }
  return readOptions('createKeyhook', path, WITH_OPTIONS.options ?? {}, choice) as {
    readonly plugin: Chosen
    readonly options?: GivenOptions
  }
}

const VALUE: Kind = optional({
  allowed: 'a non-empty string or a number',
  accepts: (value) => NAME.accepts(value) || Number.isFinite(value),
})

function valuesOf(
  label: string,
  path: string,
  declared: PluginOptions,
  values: GivenOptions,
): LoadedPlugin['options'] {
  const kinds = Object.fromEntries(Object.keys(declared).map((name) => [name, VALUE]))
  const given = readOptions('createKeyhook', `${path}.options`, kinds, values)
  const read = Object.entries(declared).map(([name, option]) => {
    const value = given[name] ?? option.default
    if (value === undefined && option.required === true) {
      throw new ConfigError(`${label}, and its option ${name} must be set with it: ${option.doc}`)
    }
    return [name, value === undefined ? undefined : String(value as string | number)] as const
  })
  return Object.fromEntries(read)
}

/**
 * Reads the payment processor that an embedder hands over; its options are its settings.
 *
 * @throws TypeError for a setting that it does not declare
 */
export function readProcessor(given: ChosenPlugins): GivenProcessor | undefined {
  if (given.billing === undefined) return undefined
  const path = 'options.plugins.billing'
  const { plugin, options = {} } = partsOf(path, given.billing)
  const names = Array.isArray(plugin.settings) ? plugin.settings.filter(isObject) : []
  const kinds = Object.fromEntries(names.map(({ name }) => [String(name), VALUE]))
  const values = readOptions('createKeyhook', `${path}.options`, kinds, options)
  const texts = Object.entries(values).map(([name, value]) => [name, String(value)] as const)
  return { plugin, settings: Object.fromEntries(texts) }
}

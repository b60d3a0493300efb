import type {
  PaymentProcessor,
  PaymentProcessorPlugin,
  ProcessorSetting,
  ProcessorSettings,
} from '../../plugins/billing/contract.ts'
import { ProcessorError } from '../../plugins/billing/contract.ts'
import { PROCESSORS } from '../../plugins/registry.ts'
import type { Processing } from '../billing/billing.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'
import type { Machine } from '../platform.ts'
import type { Closers } from './closers.ts'
import { importModule, reasonOf } from './extensions/import-module.ts'
import { folderProcessor } from './extensions/named.ts'
import { openOutbound } from './outbound.ts'

/** Modes without a payment processor. */
const WITHOUT: ReadonlySet<string> = new Set(['none', 'internal'])
const NAME = /^[a-z][a-z0-9-]{0,31}$/
/** What the contract promises of `fetch`. */
const MAX_ANSWER = 4 * 1_048_576
const AT_ONCE = 16

type Given = Pick<Config, 'billing' | 'currency' | 'variable' | 'dataDir'>

/** A processor that an embedder hands over, with its settings. */
export interface GivenProcessor {
  readonly plugin: unknown
  readonly settings: ProcessorSettings
}

/**
 * Opens the payment processor that the operator configured; undefined: none takes money.
 *
 * @throws ConfigError for a module that cannot be loaded or exports none, and for its settings
 */
export async function openProcessing(
  { billing, currency, variable, dataDir }: Given,
  { clock, ownHosts }: Pick<Machine, 'clock'> & { readonly ownHosts: readonly string[] },
  closers: Closers,
  given?: GivenProcessor,
): Promise<Processing | undefined> {
  if (given === undefined && !hasProcessor({ billing })) return undefined
  const plugin =
    given === undefined
      ? await loadProcessor(billing, dataDir)
      : requireProcessor(billing, given.plugin)
  const settings = settingsOf(plugin, given ? (name) => given.settings[name] : variable)
  try {
    const outbound = await openOutbound(plugin.origins(settings), {
      ownHosts,
      atOnce: AT_ONCE,
      answer: MAX_ANSWER,
    })
    closers.push(() => outbound.close())
    const processor: unknown = await plugin.open({
      settings,
      fetch: outbound.fetch,
      clock,
      currency,
    })
    // Also one of another form: whatever it opened ends with the start that refuses it.
    closers.push(() => closeIt(processor))
    if (!isProcessor(processor)) {
      throw new ConfigError(`KEYHOOK_BILLING is ${billing}, which opens no payment processor`)
    }
    return { name: plugin.name, processor }
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause
    if (cause instanceof ProcessorError && cause.code === 'misconfigured') {
      throw new ConfigError(cause.internal ?? cause.message, { cause })
    }
    throw new ConfigError(
      `KEYHOOK_BILLING is ${billing}, which cannot be opened: ${reasonOf(cause)}`,
      {
        cause,
      },
    )
  }
}

export const hasProcessor = ({ billing }: Pick<Config, 'billing'>): boolean => !WITHOUT.has(billing)

/** @throws ConfigError */
async function loadProcessor(named: string, dataDir: string): Promise<PaymentProcessorPlugin> {
  if (Object.hasOwn(PROCESSORS, named)) return PROCESSORS[named as keyof typeof PROCESSORS]()
  const inFolder = NAME.test(named) ? folderProcessor(dataDir, named) : undefined
  const known = [...WITHOUT, ...Object.keys(PROCESSORS)].join(', ')
  const label = `KEYHOOK_BILLING is ${named}`
  const unlike =
    NAME.test(named) && inFolder === undefined ? `${label}, not one of ${known}` : label
  const module = await importModule(unlike, inFolder ?? named)
  return requireProcessor(named, module['paymentProcessor'])
}

function requireProcessor(named: string, plugin: unknown): PaymentProcessorPlugin {
  if (!isPlugin(plugin)) {
    throw new ConfigError(`KEYHOOK_BILLING is ${named}, which exports no paymentProcessor`)
  }
  if (!NAME.test(plugin.name) || WITHOUT.has(plugin.name)) {
    throw new ConfigError(`KEYHOOK_BILLING is ${named}, whose name is not [a-z][a-z0-9-]{0,31}`)
  }
  return plugin
}

function isPlugin(plugin: unknown): plugin is PaymentProcessorPlugin {
  const { name, settings, origins, open } = (plugin ?? {}) as Partial<PaymentProcessorPlugin>
  const hasForm = typeof name === 'string' && Array.isArray(settings) && settings.every(isSetting)
  return hasForm && typeof origins === 'function' && typeof open === 'function'
}

function isSetting(setting: unknown): boolean {
  const { name, required } = (setting ?? {}) as Partial<ProcessorSetting>
  return typeof name === 'string' && typeof required === 'boolean'
}

const METHODS = [
  'createCustomer',
  'createCheckout',
  'usePaymentMethod',
  'cancelSubscription',
  'openPortal',
  'receive',
  'fetchFacts',
  'changedSince',
  'check',
] as const satisfies readonly (keyof PaymentProcessor)[]

function closeIt(opened: unknown): unknown {
  const { close } = (opened ?? {}) as Partial<PaymentProcessor>
  return typeof close === 'function' ? Reflect.apply(close, opened, []) : undefined
}

function isProcessor(opened: unknown): opened is PaymentProcessor {
  const given = (opened ?? {}) as Partial<PaymentProcessor>
  const { subscriptions, portal, paymentMethods } = given.capabilities ?? {}
  const flags = [subscriptions, portal, paymentMethods]
  const areTold = flags.every((flag) => typeof flag === 'boolean')
  return areTold && METHODS.every((method) => typeof given[method] === 'function')
}

/** @throws ConfigError for one that is required and missing */
function settingsOf(
  { name, settings }: PaymentProcessorPlugin,
  variable: Config['variable'],
): ProcessorSettings {
  const values = settings.map((setting) => [setting, variable(setting.name)] as const)
  for (const [setting, value] of values) {
    if (setting.required && value === undefined) {
      throw new ConfigError(`KEYHOOK_BILLING is ${name}, and ${setting.name} must be set with it`)
    }
  }
  return Object.fromEntries(values.map(([setting, value]) => [setting.name, value]))
}

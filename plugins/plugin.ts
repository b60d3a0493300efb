/**
 * `keyhook/plugins`: the form of a plugin, whatever its contract.
 *
 * @module
 */
import type { Kind } from '../lib/internal/arguments.ts'
import {
  FUNCTION,
  NAME,
  declareArguments,
  isPlainObject,
  mapOf,
  oneOf,
  optional,
  optionsOf,
  recordOf,
} from '../lib/internal/arguments.ts'
import type { Clock } from '../lib/engine/ports.ts'
import type { AppBytes } from './apps/contract.ts'
import type { Deployer } from './deploy/contract.ts'
import type { Destination } from './destinations/contract.ts'
import type { Editor } from './edits/contract.ts'
import type { Embedder } from './embeddings/contract.ts'
import type { FileProcessor } from './files/contract.ts'

/** What a plugin of each contract creates. Payment processors have a form of their own. */
export interface Contracts {
  readonly apps: AppBytes
  readonly edits: Editor
  readonly files: FileProcessor
  readonly deploy: Deployer
  readonly embeddings: Embedder
  readonly destinations: Destination
}

export type ContractName = keyof Contracts

/** The contracts, each with the methods that an implementation must have. */
export const CONTRACTS: {
  readonly [Name in ContractName]: readonly (keyof Contracts[Name] & string)[]
} = {
  apps: ['put', 'get', 'open', 'list', 'remove', 'drop', 'apps', 'close'],
  edits: ['carryOut'],
  files: ['sniff', 'process', 'close'],
  deploy: ['build', 'activate', 'close'],
  embeddings: ['embed'],
  destinations: ['describe', 'validate', 'send', 'close'],
}

/** One option of a plugin. Its value is text; the plugin parses it. */
export interface PluginOption {
  /** Environment variable, also as NAME_FILE. Only settings of Keyhook begin with `KEYHOOK_`. */
  readonly env: string
  /** One sentence. */
  readonly doc: string
  /** Default false. */
  readonly required?: boolean
  /** Used when it is not given. Default: none. */
  readonly default?: string
  /** Its value is never shown. Default false. */
  readonly secret?: boolean
}

export type PluginOptions = Readonly<Record<string, PluginOption>>

/** The values of options by name. */
export type OptionValues<Options extends PluginOptions> = {
  readonly [Name in keyof Options]: Options[Name] extends
    | { readonly required: true }
    | { readonly default: string }
    ? string
    : string | undefined
}

/** What a plugin's `fetch` may reach. */
export type PluginNetwork<Values> =
  /** The origins that the operator names in options, such as `https://s3.example.com`, also private ones. */
  | { readonly policy: 'listed'; origins(options: Values): readonly string[] }
  /** Every public host by https, and no private one. */
  | { readonly policy: 'public' }

export interface PluginLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What a plugin may use. */
export interface PluginPorts<Values> {
  readonly options: Values
  /** Writes lines of the service's log that name the plugin. Log no secret. */
  readonly logger: PluginLogger
  readonly clock: Pick<Clock, 'now' | 'steady' | 'after'>
  /** Aborts when the service stops, before `close` is called. */
  readonly signal: AbortSignal
  /**
   * `fetch` over the guarded client, for a URL as text and a body as text or bytes: it follows no redirect, and
   * `signal` ends it at any time. Without `network` it reaches nothing. It rejects when there is no status
   * line; `final: true` on the error says that a retry cannot help.
   */
  readonly fetch: typeof globalThis.fetch
}

export interface Plugin<
  Name extends ContractName = ContractName,
  Options extends PluginOptions = PluginOptions,
> {
  readonly contract: Name
  /** `[a-z][a-z0-9-]{0,31}`, for logs and messages. */
  readonly name: string
  /** Default: none. */
  readonly options?: Options
  /** Default: `fetch` reaches nothing. */
  readonly network?: PluginNetwork<OptionValues<Options>>
  /**
   * Creates the implementation, within a minute.
   *
   * @throws Error that says in one line what the operator must change
   */
  create(ports: PluginPorts<OptionValues<Options>>): Contracts[Name] | Promise<Contracts[Name]>
}

const PLUGIN_NAME = {
  allowed: 'a name of a-z, 0-9 and -',
  accepts: (value: unknown) => typeof value === 'string' && /^[a-z][a-z0-9-]{0,31}$/.test(value),
}

const VARIABLE = {
  allowed: 'a name of A-Z, 0-9 and _ that does not begin with KEYHOOK_',
  accepts: (value: unknown) =>
    typeof value === 'string' && /^(?!KEYHOOK_)[A-Z][A-Z0-9_]{0,63}$/.test(value),
}

const FLAG = optional(oneOf(true, false))

const OPTION_KINDS = {
  env: VARIABLE,
  doc: NAME,
  required: FLAG,
  default: optional(NAME),
  secret: FLAG,
} satisfies Record<keyof PluginOption, Kind>

/** A misspelt `required` or `secret` must not be lost. */
const OPTION: Kind = {
  allowed: 'an option { env, doc }',
  accepts: (value) =>
    isPlainObject(value) &&
    recordOf(OPTION_KINDS).accepts(value) &&
    Reflect.ownKeys(value).every((name) => Object.hasOwn(OPTION_KINDS, name)),
}

const readPlugin = declareArguments('definePlugin', {
  plugin: optionsOf({
    contract: oneOf(...Object.keys(CONTRACTS)),
    name: PLUGIN_NAME,
    options: optional({ ...mapOf(OPTION), allowed: 'options { env, doc } by name' }),
    network: optional({ ...recordOf({ policy: oneOf('listed', 'public') }), allowed: 'a policy' }),
    create: FUNCTION,
  }),
})

/**
 * Declares a plugin; a module exports it as `plugin`.
 *
 * @throws TypeError for a plugin of another form
 * @example
 * export const plugin = definePlugin({
 *   contract: 'apps',
 *   name: 's3',
 *   options: { bucket: { env: 'S3_BUCKET', doc: 'Bucket of the apps.', required: true } },
 *   network: { policy: 'listed', origins: () => ['https://s3.example.com'] },
 *   create: ({ options, fetch }) => openBucket(options.bucket, fetch),
 * })
 */
export function definePlugin<Name extends ContractName, const Options extends PluginOptions>(
  ...args: readonly [plugin: Plugin<Name, Options>]
): Plugin<Name, Options> {
  const [plugin] = readPlugin(args) as readonly [Plugin<Name, Options>]
  const { network } = plugin
  if (network?.policy === 'listed' && typeof network.origins !== 'function') {
    throw new TypeError('definePlugin: network.origins must be a function')
  }
  return Object.freeze(plugin)
}

import type { Config } from '../config/config.ts'
import { readConfig } from '../config/config.ts'
import { SETTINGS } from '../config/settings.ts'

/** A setting in code: text, a number, a list, or scope families with their actions. */
export type Given =
  | string
  | number
  | readonly string[]
  | Readonly<Record<string, readonly string[]>>
  | undefined

type SettingName = keyof typeof SETTINGS

const LISTENS = 'your own server listens'
const ELSEWHERE = 'it names a daemon elsewhere, for the command line'
const USERS = 'its users are those of your product'
const APPS = 'options.families names no family that has apps'
const FAMILIES = 'families are handed over in options.families'
const GIVEN = 'plugins are handed over in options.plugins'

/** Settings without effect in an embedded Keyhook, with the reason. */
export const DAEMON_ONLY = {
  host: LISTENS,
  port: LISTENS,
  connections: LISTENS,
  networkConnections: LISTENS,
  stopDelay: LISTENS,
  url: ELSEWHERE,
  key: ELSEWHERE,
  ownerEmail: USERS,
  ownerPassword: USERS,
  apps: 'published apps are served where appsPort is given',
  appsPlugin: GIVEN,
  editsPlugin: GIVEN,
  filesPlugin: GIVEN,
  familiesPlugin: FAMILIES,
  deployPlugin: GIVEN,
  embeddingsPlugin: GIVEN,
  destinationsPlugin: GIVEN,
} as const satisfies Partial<Record<SettingName, string>>

/** Settings without effect unless `families` names one of the platform, with the reason. */
export const APPS_ONLY = {
  appsHost: APPS,
  appsPort: APPS,
  appsDomain: APPS,
  appsUrl: APPS,
  appsConnections: APPS,
  appsNetworkConnections: APPS,
  appIds: APPS,
  accessDays: APPS,
  dnsServers: APPS,
  workLease: APPS,
  llmBaseUrl: APPS,
  llmApiKey: APPS,
  llmModel: APPS,
  llmModels: APPS,
  embeddingsModel: APPS,
  embeddingsBaseUrl: APPS,
  embeddingsApiKey: APPS,
} as const satisfies Partial<Record<SettingName, string>>

/** The settings of docs/config.md that an embedded Keyhook has: `KEYHOOK_MASTER_KEY` is `masterKey`. */
export type GivenSettings = {
  readonly [Name in Exclude<SettingName, keyof typeof DAEMON_ONLY>]?: Given
}

/**
 * Reads settings in code by the rules of those in the environment. Their names were checked with the other
 * arguments.
 *
 * @throws ConfigError naming the setting that cannot be used
 */
export function readGiven(given: GivenSettings): Config {
  const texts = Object.entries(given).flatMap(([name, value]): [string, string][] => {
    const { env } = SETTINGS[name as SettingName]
    return value === undefined ? [] : [[env, textOf(value)]]
  })
  return readConfig(Object.fromEntries(texts))
}

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(SETTINGS).map(([name, { env }]) => [env, name]),
)

/**
 * A message about settings, in the names that code uses.
 *
 * @example
 * inCode('KEYHOOK_DATA_DIR is not a folder') // 'dataDir is not a folder'
 */
export function inCode(message: string): string {
  return message.replaceAll(/\bKEYHOOK_[A-Z0-9_]+/g, (env) => NAMES.get(env) ?? env)
}

function textOf(value: Exclude<Given, undefined>): string {
  if (typeof value !== 'object') return String(value)
  if (isList(value)) return value.join(',')
  return Object.entries(value)
    .map(([family, actions]) => `${family}:${actions.join('|')}`)
    .join(',')
}

function isList(value: object): value is readonly string[] {
  return Array.isArray(value)
}

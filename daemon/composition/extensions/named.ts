import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ContractName } from '../../../plugins/plugin.ts'
import { CONTRACTS } from '../../../plugins/plugin.ts'
import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/config.ts'
import { SETTINGS } from '../../config/settings.ts'

/** What the operator may add: a plugin of a contract, or a family of the API. */
export type Addition = ContractName | 'families'

/** A plugin of the operator, which is not loaded yet. */
export interface NamedPlugin {
  readonly contract: Addition
  /** How it was named, for messages: `KEYHOOK_APPS_PLUGIN is s3`. */
  readonly label: string
  /** An absolute path, or a package. */
  readonly named: string
}

/** The setting of each contract. */
const SETTING_OF = {
  apps: 'appsPlugin',
  edits: 'editsPlugin',
  files: 'filesPlugin',
  deploy: 'deployPlugin',
  embeddings: 'embeddingsPlugin',
  destinations: 'destinationsPlugin',
  families: 'familiesPlugin',
} as const satisfies Record<Addition, keyof Config>

/** Those of which there may be several. */
const SEVERAL: ReadonlySet<Addition> = new Set(['files', 'destinations', 'families'])

/** What a file or folder of a plugin is called: its contract, and a name where there are several. */
const ENTRY =
  /^(apps|edits|files|deploy|embeddings|destinations|families|billing)(?:-([a-z0-9-]+))?(\.m?js)?$/
/** What npm keeps beside them. */
const IGNORED = /^(\..*|node_modules|package(-lock)?\.json)$/

/**
 * The plugins that settings name or that the plugins folder of the data folder contains, in the order in which
 * they are opened. Nothing is loaded.
 *
 * @throws ConfigError for what is no plugin there, and for two of a contract that takes one
 */
export async function namedPlugins(
  config: Pick<Config, (typeof SETTING_OF)[Addition]>,
  dataDir: string | undefined,
): Promise<readonly NamedPlugin[]> {
  const inFolder = dataDir === undefined ? [] : await folderPlugins(resolve(dataDir, 'plugins'))
  const additions = [...(Object.keys(CONTRACTS) as ContractName[]), 'families'] as const
  const found = additions.flatMap((contract) => {
    const { env } = SETTINGS[SETTING_OF[contract]]
    const own = config[SETTING_OF[contract]].map((named) => ({
      contract,
      label: `${env} is ${named}`,
      named,
    }))
    return [...own, ...inFolder.filter((one) => one.contract === contract)]
  })
  for (const [index, one] of found.entries()) {
    const before = found[index - 1]
    if (SEVERAL.has(one.contract) || before?.contract !== one.contract) continue
    throw new ConfigError(`${before.label}, and ${one.label} too: only one can be used`)
  }
  return found
}

async function folderPlugins(folder: string): Promise<readonly NamedPlugin[]> {
  const entries = await entriesOf(folder)
  return entries.flatMap((entry) => {
    const [, contract, , extension] = ENTRY.exec(entry) ?? []
    const label = `the plugins folder has ${entry}`
    if (contract === undefined) {
      throw new ConfigError(
        `${label}, which is not called after a contract, such as apps.mjs or files-epub.mjs`,
      )
    }
    // Money is taken by a processor that KEYHOOK_BILLING names, and by no other.
    if (contract === 'billing') return []
    const named = join(folder, entry, ...(extension === undefined ? ['index.mjs'] : []))
    return [{ contract: contract as Addition, label, named }]
  })
}

/** The payment processor of the plugins folder with this name; undefined: there is none. */
export function folderProcessor(dataDir: string, name: string): string | undefined {
  const folder = resolve(dataDir, 'plugins')
  const candidates = [
    `billing-${name}.mjs`,
    `billing-${name}.js`,
    join(`billing-${name}`, 'index.mjs'),
  ]
  return candidates.map((entry) => join(folder, entry)).find((path) => existsSync(path))
}

async function entriesOf(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder)
    return entries.filter((entry) => !IGNORED.test(entry)).sort()
  } catch (cause) {
    // A data folder that is none is named where it is opened.
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw new ConfigError(`the plugins folder cannot be read: ${String(cause)}`, { cause })
  }
}

import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { NamedPlugin } from '../composition/extensions/named.ts'
import { namedPlugins } from '../composition/extensions/named.ts'
import type { RecordedPlugin } from '../composition/extensions/record.ts'
import { recordedPlugins } from '../composition/extensions/record.ts'
import type { Config } from '../config/config.ts'
import type { Check } from './check.ts'
import { attempt } from './check.ts'

/**
 * What the operator's plugins declare, and whether their options are given. Nothing is loaded: `serve` records
 * what it loads.
 */
export async function checkPlugins(config: Config): Promise<readonly Check[]> {
  const looked = await attempt('plugins', async () => ({
    detail: '',
    named: await namedPlugins(config, config.dataDir),
  }))
  if (looked.found === undefined) return [looked.check]
  const recorded = await recordedPlugins(resolve(config.dataDir, 'plugins.json'))
  const checks = looked.found.named.map(async (one) => {
    const known = recorded.plugins.find(({ named }) => named === one.named)
    const family = recorded.families.find(({ named }) => named === one.named)
    const found = await attempt(`plugin of ${one.contract}`, async () => {
      requireThere(one)
      if (family !== undefined)
        return { detail: `${one.label}, which is the family ${family.name}` }
      return { detail: known === undefined ? `${one.label}. ${UNKNOWN}` : describe(known, config) }
    })
    return found.check
  })
  return Promise.all(checks)
}

const UNKNOWN = '`keyhook serve` loads it, and then its options are shown here'

function requireThere({ label, named }: NamedPlugin): void {
  const isThere = isAbsolute(named) ? existsSync(named) : isPackage(named)
  if (!isThere) throw new Error(`${label}, which is not there`)
}

/** Resolves its name, and runs nothing of it. */
function isPackage(named: string): boolean {
  try {
    return import.meta.resolve(named) !== ''
  } catch {
    return false
  }
}

/** @throws Error for an option that is required and missing */
function describe({ name, network, options }: RecordedPlugin, config: Config): string {
  const shown = options.map((option) => {
    const value = config.variable(option.env)
    if (value !== undefined) return `${option.env} ${option.secret ? 'is given' : `is ${value}`}`
    if (option.default !== null) return `${option.env} is ${option.default} by default`
    if (option.required) throw new Error(`${name} needs ${option.env}: ${option.doc}`)
    return `${option.env} is not given: ${option.doc}`
  })
  return [`${name}, which reaches ${REACH[network]}`, ...shown].join('; ')
}

const REACH: Readonly<Record<RecordedPlugin['network'], string>> = {
  none: 'nothing',
  listed: 'the origins of its options',
  public: 'public hosts',
}

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { StoredFacts } from '../../plugins/registry.ts'
import { reachPostgres, reachSqlite } from '../../plugins/registry.ts'
import { namedPlugins } from '../composition/extensions/named.ts'
import { recordedPlugins } from '../composition/extensions/record.ts'
import type { Config } from '../config/config.ts'
import { databaseFile, usesPostgres } from '../config/config.ts'
import type { Check } from './check.ts'

type Tables = ReadonlyMap<string, readonly string[]>

/**
 * Names the tables of families that no plugin brings any more: nothing reads them, and nothing deletes them. A database
 * that cannot be read has a check of its own.
 */
export async function checkTables(config: Config): Promise<readonly Check[]> {
  try {
    const served = await servedFamilies(config)
    const found = served === undefined ? [] : [...(await readTables(config))]
    return found
      .filter(([family]) => served?.has(family) === false)
      .map(([family, tables]) => ({ name: 'tables', ok: true, detail: describe(family, tables) }))
  } catch {
    return []
  }
}

function describe(family: string, tables: readonly string[]): string {
  return (
    `${tables.join(', ')}: left by the family ${family}, which no plugin brings any more. ` +
    'Bring it back, or drop them'
  )
}

/** Undefined when one that is named was never loaded, so that its name is not known. */
async function servedFamilies(config: Config): Promise<ReadonlySet<string> | undefined> {
  const named = await namedPlugins(config, config.dataDir)
  const { families } = await recordedPlugins(resolve(config.dataDir, 'plugins.json'))
  const names = named
    .filter(({ contract }) => contract === 'families')
    .map((one) => families.find((known) => known.named === one.named)?.name)
  const known = names.filter((name) => name !== undefined)
  return known.length === names.length ? new Set(known) : undefined
}

/** Reads alone: a daemon may run. */
async function readTables(config: Config): Promise<Tables> {
  let tables: Tables = new Map()
  const inspect = async (facts: StoredFacts): Promise<void> => {
    tables = await facts.extensionTables()
  }
  if (usesPostgres(config)) await reachPostgres(config.databaseUrl ?? '', { inspect })
  else if (existsSync(databaseFile(config))) await reachSqlite(databaseFile(config), { inspect })
  return tables
}

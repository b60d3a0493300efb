import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'

/** Whether records are kept where several processes share them. */
export function usesPostgres({ databaseUrl }: Pick<Config, 'databaseUrl'>): boolean {
  return databaseUrl?.startsWith('postgres') === true
}

/** The file of a database that is one. */
export function databaseFile(config: Config): string {
  return resolve(config.databaseUrl ?? `${config.dataDir}/keyhook.db`)
}

import type { ContractName } from '../../plugins/plugin.ts'
import type { OptionalPackage } from '../../plugins/registry.ts'
import {
  describeMissing,
  isPostgresUrl,
  missingPackages,
  requireSqlite,
} from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'
import { asksForTelemetry } from '../telemetry/sdk.ts'
import { unloadedExtensions } from './extensions/open.ts'

/** What decides on the packages that an opening needs. */
export interface Needing {
  readonly config: Config
  /** An address of the database, the path of its file, or an embedder's object. */
  readonly database: unknown
  /** Whether a data folder is held, whose lock is SQLite's. */
  readonly holdsFolder: boolean
  /** Contracts whose built-in implementation is not used. */
  readonly replaced: ReadonlySet<ContractName>
  /** Whether the SDK of OpenTelemetry is started here, or spans go to a provider of the process. */
  readonly telemetry: 'started' | 'joined' | 'none'
}

type Need = (needing: Needing) => boolean

const usesModel: Need = ({ config: { llmBaseUrl, embeddingsModel }, replaced }) =>
  (llmBaseUrl !== undefined && !replaced.has('edits')) ||
  (embeddingsModel !== undefined && !replaced.has('embeddings'))

const isPostgres = (address: unknown): boolean =>
  typeof address === 'string' && isPostgresUrl(address)
const isFile = (address: unknown): boolean => typeof address === 'string' && !isPostgresUrl(address)

/** Whoever hands over an object of a library has installed it. */
const NEEDS = {
  sqlite3: ({ config, database, holdsFolder }) =>
    holdsFolder || isFile(database) || isFile(config.outboxUrl),
  pg: ({ config, database }) => isPostgres(database) || isPostgres(config.outboxUrl),
  sequelize: () => true,
  openai: usesModel,
  stripe: ({ config }) => config.billing === 'stripe',
  amqplib: ({ config }) => config.destinations.rabbitmq.length > 0,
  '@redis/client': ({ config }) => config.destinations.redis.length > 0,
  '@opentelemetry/api': ({ telemetry }) => telemetry !== 'none',
  '@opentelemetry/sdk-node': ({ telemetry }) => telemetry === 'started',
} as const satisfies Partial<Record<OptionalPackage, Need>>

/** Whether the settings, the standard ones included, ask for spans and metrics of OpenTelemetry. */
export function startsTelemetry({ tracing }: Config): boolean {
  return tracing === 'on' || asksForTelemetry(process.env)
}

/** What the daemon opens by its settings. */
export async function daemonNeeds(config: Config): Promise<Needing> {
  const { replaced } = await unloadedExtensions(config)
  const telemetry = startsTelemetry(config) ? 'started' : 'none'
  return { config, database: config.databaseUrl, holdsFolder: true, replaced, telemetry }
}

/**
 * Requires the packages of what will be opened, before anything is opened or written.
 *
 * @throws ConfigError with the command that installs all that are missing, or the remedy for one that does not load
 */
export async function requireInstalled(needing: Needing): Promise<void> {
  const needed = (Object.keys(NEEDS) as (keyof typeof NEEDS)[]).filter((name) =>
    NEEDS[name](needing),
  )
  const missing = missingPackages(needed)
  if (missing.length > 0) {
    throw new ConfigError(`these settings need ${describeMissing(missing)}`)
  }
  if (!NEEDS.sqlite3(needing)) return
  await requireSqlite().catch((cause: unknown) => {
    throw new ConfigError((cause as Error).message, { cause })
  })
}

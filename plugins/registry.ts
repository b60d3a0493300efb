/**
 * Every built-in implementation, each loaded when it is asked for: this is the only file that names
 * them.
 *
 * @module
 */
import type { AppBytes } from './apps/contract.ts'
import type { DatabaseBytesOptions } from './apps/database.ts'
import type { DiskBytesOptions } from './apps/disk.ts'
import type { PaymentProcessorPlugin } from './billing/contract.ts'
import type { Deployer } from './deploy/contract.ts'
import type { RabbitMqAddress, RedisAddress } from './destinations/contract/addresses.ts'
import type { Destination } from './destinations/contract.ts'
import type { Editor } from './edits/contract.ts'
import type { OpenAiEditorOptions } from './edits/openai.ts'
import type { EgressClient, NameLookup } from './egress/contract.ts'
import type { NameLookupOptions } from './egress/resolve.ts'
import type { EgressClientOptions } from './egress/undici.ts'
import type { Embedder } from './embeddings/contract.ts'
import type { OpenAiEmbedderOptions } from './embeddings/openai.ts'
import type { FileProcessor } from './files/contract.ts'
import type { Unreadable } from './files/sniff.ts'
import type { FileProcessorOptions } from './files/extract.ts'
import type { OutboxSource } from './outbox/contract.ts'
import { requirePackages } from './packages.ts'
import type { SqliteBackups } from './platform/backup/open.ts'
import type { RestoredChanges } from './platform/backup/changes.ts'
import type { Expected } from './platform/backup/postgres-script.ts'
import type { PostgresBackups } from './platform/backup/postgres.ts'
import type { OpenedPlatform, PlatformOptions } from './platform/open.ts'
import type { OpenOptions } from './store/open.ts'

export { openDatabase as openSqliteFile, requireSqlite } from './sqlite/open.ts'
export type { SqliteConnection } from './sqlite/open.ts'
export type { OptionalPackage } from './packages.ts'
export { describeMissing, installCommand, missingPackages } from './packages.ts'
export type { KnownKey, SqliteBackups, Waiting } from './platform/backup/open.ts'
export type { RestoredChanges } from './platform/backup/changes.ts'
export { joinable } from './store/adapters/join.ts'
export { runInKnex, sqliteFileOfKnex } from './store/adapters/knex-database.ts'
export { untilAged } from './store/hold.ts'
export { createTurns } from './store/turns.ts'
export type { Turns } from './store/turns.ts'
export type { OpenOptions, StoredFacts } from './store/open.ts'
export { isPostgresUrl } from './store/contract/address.ts'
export { isSequelize } from './store/sequelize.ts'

/**
 * Opens the store over what an embedder hands over, or over an address.
 *
 * @throws TypeError for what is no database
 */
export async function openDatabase(
  database: unknown,
  options: PlatformOptions = {},
): Promise<OpenedPlatform> {
  const { openPlatformStore } = await import('./platform/open.ts')
  return openPlatformStore(database, options)
}

/**
 * Connects to a PostgreSQL server, lets `inspect` judge what is stored, and answers its host and port;
 * nothing is changed.
 *
 * @throws Error that names host, port and cause, and no credentials; and what `inspect` throws
 */
export async function reachPostgres(url: string, options: OpenOptions = {}): Promise<string> {
  return (await import('./platform/open.ts')).reachPlatformPostgres(url, options)
}

/**
 * Lets `inspect` judge what an existing SQLite file holds; nothing is changed.
 *
 * @throws Error when the file cannot be read; and what `inspect` throws
 */
export async function reachSqlite(file: string, options: OpenOptions): Promise<void> {
  await (await import('./platform/open.ts')).reachPlatformSqlite(file, options)
}

/** How the files of SQLite are backed up. */
export async function openSqliteBackups(): Promise<SqliteBackups> {
  requirePackages('A SQLite database', ['sqlite3'])
  return (await import('./platform/backup/open.ts')).sqliteBackups
}

/** How PostgreSQL databases are backed up, beside its own programs. */
export async function openPostgresBackups(): Promise<PostgresBackups> {
  requirePackages('A PostgreSQL database', ['pg'])
  return (await import('./platform/backup/postgres.ts')).postgresBackups
}

/** The environment in which PostgreSQL's own programs connect to an address. */
export async function environmentOfPostgres(
  url: string,
): Promise<Readonly<Record<string, string>>> {
  return (await import('./platform/backup/postgres-address.ts')).environmentOf(url)
}

/** The end of the script that restores a dump, its comparisons and its commit. */
export async function endOfRestore(expected: Expected, changes: RestoredChanges): Promise<string> {
  return (await import('./platform/backup/postgres-script.ts')).endOfRestore(expected, changes)
}

/** The outbox of a backend, by database. */
export const OUTBOXES = {
  async postgres(url: string): Promise<OutboxSource> {
    requirePackages('An outbox in PostgreSQL', ['pg'])
    return (await import('./outbox/postgres.ts')).openPostgresOutbox(url)
  },
  async sqlite(file: string): Promise<OutboxSource> {
    requirePackages('An outbox in SQLite', ['sqlite3'])
    return (await import('./outbox/sqlite.ts')).openSqliteOutbox(file)
  },
} as const

/** Where the bytes of apps may lie. */
export const APP_BYTES = {
  disk: async (options: DiskBytesOptions): Promise<AppBytes> =>
    (await import('./apps/disk.ts')).openDiskBytes(options),
  database: async (options: DatabaseBytesOptions): Promise<AppBytes> =>
    (await import('./apps/database.ts')).openDatabaseBytes(options),
} as const

/** Who may take money. Each package is loaded only when it is selected. */
export const PROCESSORS = {
  async stripe(): Promise<PaymentProcessorPlugin> {
    requirePackages('Stripe', ['stripe'])
    return (await import('./billing/stripe.ts')).stripe
  },
} as const

/** What may carry out prompts. */
export const EDITORS = {
  none: async (): Promise<Editor> => (await import('./edits/none.ts')).createNoEditor(),
  async openai(options: OpenAiEditorOptions): Promise<Editor> {
    requirePackages('A language model', ['openai'])
    return (await import('./edits/openai.ts')).createOpenAiEditor(options)
  },
} as const

/** What may make vectors of texts. */
export const EMBEDDERS = {
  async openai(options: OpenAiEmbedderOptions): Promise<Embedder> {
    requirePackages('A model for embeddings', ['openai'])
    return (await import('./embeddings/openai.ts')).createOpenAiEmbedder(options)
  },
} as const

/** Where webhooks may send besides https. */
export const DESTINATIONS = {
  async rabbitmq(addresses: readonly RabbitMqAddress[]): Promise<Destination> {
    requirePackages('A destination of RabbitMQ', ['amqplib'])
    return (await import('./destinations/rabbitmq.ts')).createRabbitMqDestination(addresses)
  },
  async redis(addresses: readonly RedisAddress[]): Promise<Destination> {
    requirePackages('A destination of Redis', ['@redis/client'])
    return (await import('./destinations/redis.ts')).createRedisDestination(addresses)
  },
} as const

/** What may make releases. */
export const DEPLOYERS = {
  hosted: async (): Promise<Deployer> =>
    (await import('./deploy/hosted.ts')).createHostedDeployer(),
} as const

/** What may read knowledge files. */
export const FILE_PROCESSORS = {
  'built-in': async (options: FileProcessorOptions): Promise<FileProcessor> =>
    (await import('./files/extract.ts')).createFileProcessor(options),
} as const

/** Reads one document as a child process does, whose arguments this process has. */
export async function readDocument(): Promise<void> {
  await import('./files/extract/child.ts')
}

/** Types of files that the built-in reader cannot read, and the packages that would read them. */
export async function unreadableTypes(): Promise<Unreadable> {
  return (await import('./files/sniff.ts')).unreadableTypes()
}

/** Several readers as one: the first that detects a type of its own processes a file. */
export async function combineReaders(readers: readonly FileProcessor[]): Promise<FileProcessor> {
  return (await import('./files/combine.ts')).combineReaders(readers)
}

export const EGRESS: Readonly<
  Record<'undici', () => Promise<(options: EgressClientOptions) => EgressClient>>
> = {
  undici: async () => (await import('./egress/undici.ts')).createEgressClient,
}

/** What may ask name servers. */
export const NAME_LOOKUPS = {
  dns: async (options: NameLookupOptions): Promise<NameLookup> =>
    (await import('./egress/resolve.ts')).createNameLookup(options),
} as const

import { createHash } from 'node:crypto'
import type { Dialect, Query } from './client.ts'
import type { Step } from './migrations/migration.ts'

/** Tables of somebody else in the same database, under a prefix of their own. */
export interface Extension {
  /** Who has them, for messages and the journal: the name of a family. */
  readonly name: string
  /** `keyhook_x_notes_` */
  readonly prefix: string
  /** All that were ever released, in their order: a step is added, never edited or removed. */
  readonly steps: readonly Step[]
}

/** Prefix of the tables of all extensions. */
export const extensionPrefix = (tablePrefix: string): string => `${tablePrefix}x_`

/** The steps that were run for extensions. No extension can have this name: those of theirs have two parts. */
const journalOf = (tablePrefix: string): string => `${extensionPrefix(tablePrefix)}migrations`

/**
 * Brings the tables of extensions up to date in the transaction of the store's own steps.
 *
 * @returns the names of the steps that were run, as `notes/0001-notes`
 * @throws Error of one line when a released step was edited or removed, a statement fails, or a step touches tables
 *   of somebody else
 */
export async function migrateExtensions(
  query: Query,
  dialect: Dialect,
  tablePrefix: string,
  extensions: readonly Extension[],
): Promise<readonly string[]> {
  if (extensions.length === 0) return []
  const journal = journalOf(tablePrefix)
  await query(
    `CREATE TABLE IF NOT EXISTS ${journal} (
      family TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, at BIGINT NOT NULL,
      PRIMARY KEY (family, name))`,
  )
  const ran: string[] = []
  for (const extension of extensions) {
    const pending = await pendingOf(query, dialect, journal, extension)
    for (const step of pending) {
      await runStep(query, dialect, extension, step)
      await query(`INSERT INTO ${journal} (family, name, digest, at) VALUES ($1, $2, $3, $4)`, [
        extension.name,
        step.name,
        digestOf(step, dialect),
        Date.now(),
      ])
      ran.push(`${extension.name}/${step.name}`)
    }
  }
  return ran
}

async function pendingOf(
  query: Query,
  dialect: Dialect,
  journal: string,
  { name: family, steps }: Extension,
): Promise<readonly Step[]> {
  const rows = await query<{ name: string; digest: string }>(
    `SELECT name, digest FROM ${journal} WHERE family = $1`,
    [family],
  )
  const ran = new Map(rows.map(({ name, digest }) => [name, digest]))
  for (const [name, digest] of ran) {
    const step = steps.find((one) => one.name === name)
    if (step === undefined) {
      throw new Error(
        `the family ${family} has no migration ${name}, which this database has run: use its newer version`,
      )
    }
    if (digestOf(step, dialect) === digest) continue
    throw new Error(
      `the family ${family} changed its migration ${name}, which this database has run: add another one instead`,
    )
  }
  return steps.filter(({ name }) => !ran.has(name))
}

/** Of the statements, whatever their white space. */
function digestOf(step: Step, dialect: Dialect): string {
  const text = step.up(dialect).join(';').replaceAll(/\s+/g, ' ').trim()
  return createHash('sha256').update(text).digest('hex')
}

async function runStep(
  query: Query,
  dialect: Dialect,
  { name: family, prefix }: Extension,
  step: Step,
): Promise<void> {
  const before = await tablesIn(query, dialect)
  try {
    for (const statement of step.up(dialect)) await query(statement)
  } catch (cause) {
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw new Error(`the migration ${step.name} of the family ${family} failed: ${reason}`, {
      cause,
    })
  }
  const after = await tablesIn(query, dialect)
  const changed = [...before, ...after].filter(
    (one) => !before.includes(one) || !after.includes(one),
  )
  const foreign = changed.find((table) => !table.startsWith(prefix))
  if (foreign === undefined) return
  throw new Error(
    `the migration ${step.name} of the family ${family} creates or drops ${foreign}, and its own tables begin ` +
      `with ${prefix}`,
  )
}

export async function tablesIn(query: Query, { tableNames }: Dialect): Promise<readonly string[]> {
  return (await query<{ name: string }>(tableNames)).map(({ name }) => name)
}

/** The tables of extensions, whether somebody still has them or not: by the name of each. */
export async function extensionTables(
  query: Query,
  dialect: Dialect,
  tablePrefix: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const prefix = extensionPrefix(tablePrefix)
  const found = new Map<string, string[]>()
  for (const table of (await tablesIn(query, dialect)).toSorted()) {
    const [, name] =
      /^([a-z0-9]+)_/.exec(table.startsWith(prefix) ? table.slice(prefix.length) : '') ?? []
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), table])
  }
  return found
}

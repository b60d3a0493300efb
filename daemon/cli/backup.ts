import { basename, join } from 'node:path'
import type { Command } from 'commander'
import type { Created } from '../backup/create.ts'
import type { Drilled } from '../backup/drill.ts'
import type { Manifest } from '../backup/manifest.ts'
import type { PassphraseOptions } from '../backup/passphrase.ts'
import type { Restored } from '../backup/restore.ts'
import { ConfigError, readConfig } from '../config/config.ts'
import { namingHelp } from './command.ts'
import type { CommandPorts } from './operation-command.ts'
import { align } from './print.ts'
import type { Terminal } from './terminal.ts'

interface Shared extends PassphraseOptions {
  readonly json?: boolean
  readonly postgresPrograms?: string
}

interface CreateFlags extends Shared {
  readonly to: string
  readonly masterKey?: boolean
}

interface RestoreFlags extends Shared {
  readonly to: string
  readonly revokeAll?: boolean
  readonly resume?: boolean
  readonly compare?: string
}

interface DrillFlags extends Shared {
  readonly within?: string
}

/** Defines `backup`, whose commands work on folders of this machine while a daemon serves. */
export function defineBackup(backup: Command, { terminal }: CommandPorts): void {
  backup.usage('<command> [options]')
  const add = (line: string, summary: string): Command => {
    const command = backup.command(line).description(summary)
    return namingHelp(command, `keyhook backup ${command.name()}`)
  }

  withPrograms(add('create', 'Back up the data folder or the database, while daemons serve it'))
    .requiredOption('--to <folder>', 'the folder of backups; a new one is made in it')
    .option('--master-key', 'include the master key, encrypted with a passphrase')
    .action(async (_: unknown, command: Command) => {
      await create(command.optsWithGlobals<CreateFlags>(), terminal)
    })
  withPassphrase(add('verify <backup>', 'Prove that a backup is whole and undamaged')).action(
    async (folder: string, _: unknown, command: Command) => {
      await verify(folder, command.optsWithGlobals<Shared>(), terminal)
    },
  )
  withPrograms(add('restore <backup>', 'Restore into an empty folder, with sending paused'))
    .requiredOption('--to <folder>', 'the new data folder: empty, or not there yet')
    .option('--revoke-all', 'revoke every key and end every session')
    .option('--resume', 'send what waits once a daemon starts')
    .option('--compare <path>', 'a newer data folder or backup, to name keys revoked since')
    .action(async (folder: string, _: unknown, command: Command) => {
      await restore(folder, command.optsWithGlobals<RestoreFlags>(), terminal)
    })
  add('list <folder>', 'List the finished backups of a folder, newest first')
    .option('--json', 'print JSON')
    .action(async (folder: string, _: unknown, command: Command) => {
      await list(folder, command.optsWithGlobals<Shared>(), terminal)
    })
  withPrograms(add('drill <backup>', 'Restore into a temporary folder, open, compare, delete'))
    .option('--within <folder>', 'where the temporary folder is made; default: that of the system')
    .action(async (folder: string, _: unknown, command: Command) => {
      await drill(folder, command.optsWithGlobals<DrillFlags>(), terminal)
    })
}

function withPassphrase(command: Command): Command {
  return command
    .option('--passphrase-stdin', 'read the passphrase of the master key from standard input')
    .option('--passphrase-file <file>', 'read it from a file')
    .option('--json', 'print JSON')
}

function withPrograms(command: Command): Command {
  return withPassphrase(command).option(
    '--postgres-programs <folder>',
    'where pg_dump, pg_restore and psql are; default: in PATH',
  )
}

async function passphraseOf(flags: PassphraseOptions, { readInput }: Terminal) {
  const { readPassphrase } = await import('../backup/passphrase.ts')
  return readPassphrase(flags, readInput)
}

/** Progress for a person who watches; nothing of it is left on a line that ends. */
function progressOn({ notice }: Terminal): (line: string) => void {
  return notice ?? (() => undefined)
}

function show(text: string, value: object, { json = false }: Shared, terminal: Terminal): void {
  terminal.notice?.('')
  terminal.out(json ? `${JSON.stringify(value)}\n` : text)
}

async function create(flags: CreateFlags, terminal: Terminal): Promise<void> {
  const passphrase = await passphraseOf(flags, terminal)
  if (flags.masterKey === true && passphrase === undefined) {
    throw new ConfigError(
      '--master-key needs a passphrase: give --passphrase-stdin or --passphrase-file',
    )
  }
  if (flags.masterKey !== true && passphrase !== undefined) {
    throw new ConfigError('a passphrase encrypts the master key: give --master-key too')
  }
  const { createBackup } = await import('../backup/create.ts')
  const progress = progressOn(terminal)
  const config = readConfig(terminal.env)
  const created = await createBackup(config, {
    to: flags.to,
    passphrase,
    progress,
    programs: flags.postgresPrograms,
  })
  show(printCreated(created), summaryOf(created), flags, terminal)
}

function printCreated(created: Created): string {
  const { master_keys, has_master_key, apps } = created.manifest
  const key = has_master_key
    ? 'The master key is in it, encrypted.'
    : `The master key is not in it: keep ${master_keys.join(', ')} elsewhere, or give --master-key.`
  const blobs = apps === null ? ['The files of apps are not in it: a plugin stores them.'] : []
  return `${[created.folder, key, ...blobs].join('\n')}\n`
}

/** What is shown of a backup, without the names of all its blobs. */
function summaryOf({ folder, manifest }: Created): object {
  const { apps, files, ...shown } = manifest
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return { folder, ...shown, has_blobs: apps !== null, files: files.length, bytes }
}

async function verify(folder: string, flags: Shared, terminal: Terminal): Promise<void> {
  const passphrase = await passphraseOf(flags, terminal)
  const { verifyBackup } = await import('../backup/verify.ts')
  const options = { passphrase, progress: progressOn(terminal) }
  const verified = await verifyBackup(folder, options)
  const { manifest, secretsProved } = verified
  const proved = {
    ...summaryOf({ folder: verified.folder, manifest }),
    secrets_proved: secretsProved,
  }
  const { id, created_at, files } = manifest
  const key = secretsProved ? ' Its master key decrypts its secrets.' : ''
  const text = `${id} is whole: ${files.length} files as of ${created_at}.${key}\n`
  show(text, proved, flags, terminal)
}

async function restore(folder: string, flags: RestoreFlags, terminal: Terminal): Promise<void> {
  const passphrase = await passphraseOf(flags, terminal)
  const { restoreBackup } = await import('../backup/restore.ts')
  const { to, revokeAll = false, resume = false, compare } = flags
  const restored = await restoreBackup(folder, {
    to,
    revokeAll,
    resume,
    compare,
    passphrase,
    progress: progressOn(terminal),
    programs: flags.postgresPrograms,
    // Other settings are those of the daemon that will serve the copy.
    target: () => readConfig(terminal.env).databaseUrl,
  })
  show(printRestored(restored), restored, flags, terminal)
}

function printRestored(restored: Restored): string {
  const { waiting, keys, sending, has_blobs } = restored
  const lines = [
    `${placeOf(restored)} holds ${restored.backup}, as of ${restored.created_at}.`,
    sending === 'paused'
      ? 'Sending is paused: `keyhook sending resume` ends that, once a daemon runs.'
      : 'Sending is not paused.',
    `${waiting.deliveries} deliveries wait; some may have been sent since the backup.`,
    ...waiting.webhooks.map((one) => `  ${one.deliveries}  ${one.url}  since ${one.oldest}`),
    `${keys.valid} keys are valid; ${keys.revoked} were revoked now.`,
    ...printValidAgain(keys),
    ...printMasterKey(restored),
    ...(has_blobs ? [] : ['The files of apps are not in it: a plugin stores them.']),
  ]
  return `${lines.join('\n')}\n`
}

function placeOf({ folder, database }: Restored): string {
  return database === 'sqlite' ? folder : 'The database of KEYHOOK_DATABASE_URL'
}

function printMasterKey(restored: Restored): readonly string[] {
  const { folder, database, master_key, master_keys } = restored
  const ids = master_keys.join(', ')
  if (database === 'postgres') {
    return master_key === 'needed'
      ? [`Set KEYHOOK_MASTER_KEY to the master key (${ids}).`]
      : [
          `The master key is restored: set KEYHOOK_MASTER_KEY_FILE to ${join(folder, 'master-key')}.`,
        ]
  }
  if (master_key === 'restored') return []
  return [`Put the master key (${ids}) into the folder, or set KEYHOOK_MASTER_KEY.`]
}

function printValidAgain({ valid_again, compared_with }: Restored['keys']): readonly string[] {
  if (valid_again === null) {
    return [
      'Keys that were revoked since are valid again, and not known: compare with a newer copy (--compare), or give --revoke-all.',
    ]
  }
  return [
    `${valid_again.length} keys are valid again that are not in ${compared_with ?? 'the newer copy'}.`,
    ...valid_again.map(({ id, account_id, name }) => `  ${id}  ${account_id}  ${name}`),
  ]
}

async function list(folder: string, flags: Shared, terminal: Terminal): Promise<void> {
  const { listBackups } = await import('../backup/manifest.ts')
  const found = await listBackups(folder)
  const rows = found.map(({ manifest }) => rowOf(manifest))
  const text = rows.length === 0 ? 'There is no finished backup.\n' : align(rows)
  show(text, { data: found.map(summaryOf) }, flags, terminal)
}

function rowOf({ id, created_at, files, has_master_key, counts }: Manifest): readonly string[] {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return [
    basename(id),
    created_at,
    `${bytes} bytes`,
    `${counts['events'] ?? 0} events`,
    has_master_key ? 'with its master key' : '',
  ]
}

async function drill(folder: string, flags: DrillFlags, terminal: Terminal): Promise<void> {
  const passphrase = await passphraseOf(flags, terminal)
  const { drillBackup } = await import('../backup/drill.ts')
  const options = {
    within: flags.within,
    passphrase,
    progress: progressOn(terminal),
    programs: flags.postgresPrograms,
  }
  const drilled = await drillBackup(readConfig(terminal.env), folder, options)
  show(printDrilled(drilled), drilled, flags, terminal)
}

function printDrilled({ backup, created_at, counts, waiting, secrets_proved }: Drilled): string {
  const held = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  const key = secrets_proved
    ? 'Its secrets can be decrypted.'
    : 'Its secrets were not decrypted: give the passphrase, or set KEYHOOK_MASTER_KEY.'
  return `${backup} can be restored, as of ${created_at}: ${held.join(', ')}. ${waiting.deliveries} deliveries would wait. ${key}\n`
}

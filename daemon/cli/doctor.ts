import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { MINUTE } from '../../lib/time.ts'
import type { StoredFacts } from '../../plugins/registry.ts'
import {
  installCommand,
  openSqliteFile,
  reachPostgres,
  reachSqlite,
  unreadableTypes,
} from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { loadPrices } from '../composition/billing.ts'
import { hasProcessor } from '../composition/processor.ts'
import { examineOutbox, requireOwnOutbox } from '../composition/outbox.ts'
import { daemonNeeds, requireInstalled } from '../composition/packages.ts'
import { reachProcessor } from '../composition/reach-processor.ts'
import { requireBrand } from '../composition/brand.ts'
import { readConfig, databaseFile, usesPostgres } from '../config/config.ts'
import { openLocal } from '../composition/local.ts'
import type { DataFolder } from '../machine/data-folder.ts'
import { takeDataFolder } from '../machine/data-folder.ts'
import { getProcessor } from '../families/billing/operations/processor.ts'
import { FAMILIES } from '../families/index.ts'
import { masterKeyStatus } from '../families/seals/operations/status.ts'
import { appsPortOf, requireTwoPorts } from '../hosting/apps-hosting.ts'
import { tryListening } from '../listener/listen.ts'
import { requireDatabase } from '../machine/installation.ts'
import { createRandom } from '../machine/ports.ts'
import { requireMasterKey } from '../machine/master-key.ts'
import { checkModelServer } from '../composition/model-server.ts'
import { createLog } from '../telemetry/log.ts'
import type { Answer } from './ask.ts'
import { askSocket } from './ask.ts'
import { checkPlugins } from './check-plugins.ts'
import { checkTables } from './check-tables.ts'
import type { Check } from './check.ts'
import { attempt } from './check.ts'

/** Checks everything that a daemon depends on, without disturbing a running one. */
export async function examine(env: Readonly<NodeJS.ProcessEnv>): Promise<readonly Check[]> {
  const node = checkNode(process.versions.node)
  const read = await attempt('configuration', () => {
    const config = readConfig(env)
    return Promise.resolve({ detail: 'readable', config })
  })
  if (read.found === undefined) return [node, read.check]
  const { config } = read.found
  const packages = await attempt('packages', () => checkPackages(config))
  // Nothing else can be looked at without them.
  if (packages.found === undefined) return [node, read.check, packages.check]
  return [
    node,
    read.check,
    ...(packages.found.detail === '' ? [] : [packages.check]),
    await checkClock(config),
    ...(await checkFolder(config)),
    ...(await checkPlugins(config)),
    ...(await checkTables(config)),
    ...(await checkOutbox(config)),
    ...(await checkModel(config)),
    ...(await checkPrices(config)),
    ...(await checkProcessor(config)),
  ]
}

/** Whether all packages that the settings need are installed; silent when every file can be read too. */
async function checkPackages(config: Config): Promise<{ readonly detail: string }> {
  await requireInstalled(await daemonNeeds(config))
  const { types, packages } = await unreadableTypes()
  if (types.length === 0) return { detail: '' }
  return { detail: `files of ${types.join(', ')} cannot be read: ${installCommand(packages)}` }
}

/** Whether the outbox can be used, and keeps no refused rows. */
async function checkOutbox(config: Config): Promise<readonly Check[]> {
  const { outboxUrl } = config
  if (outboxUrl === undefined) return []
  const looked = await attempt('outbox', async () => {
    if (!usesPostgres(config)) await requireOwnOutbox(config, databaseFile(config))
    return examineOutbox(outboxUrl)
  })
  return [looked.check]
}

async function checkPrices(config: Config): Promise<readonly Check[]> {
  if (config.prices === undefined) return []
  const { check } = await attempt('prices', async () => {
    const { version } = (await loadPrices(config, FAMILIES)).at(Date.now())
    return { detail: `version ${version} is in effect` }
  })
  return [check]
}

/** Whether the payment processor answers, and sells the plan at our price. */
async function checkProcessor(config: Config): Promise<readonly Check[]> {
  if (!hasProcessor(config)) return []
  return [(await attempt('payment processor', () => reachProcessor(config, FAMILIES))).check]
}

async function checkModel({ llmBaseUrl }: Config): Promise<readonly Check[]> {
  if (llmBaseUrl === undefined) return []
  return [(await attempt('model', () => checkModelServer(llmBaseUrl))).check]
}

const OLDEST_NODE = [20, 19] as const
const RECOMMENDED_NODE = 24

/** @param version such as `20.19.0` */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldest, oldestMinor] = OLDEST_NODE
  const ok = major > oldest || (major === oldest && minor >= oldestMinor)
  const remedy = ok ? '' : `, but ${OLDEST_NODE.join('.')} is the oldest that works`
  const advice = major < RECOMMENDED_NODE ? `; ${RECOMMENDED_NODE} is recommended` : ''
  return { name: 'node', ok, detail: `${version}${remedy}${advice}` }
}

/** Retries and expiries depend on the clock: it must be plausible, and not earlier than the latest record. */
async function checkClock(config: Config): Promise<Check> {
  const now = Date.now()
  const written = await stat(databaseFile(config)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
  const earliest = Math.max(Date.UTC(2026, 0), written - MINUTE)
  const ok = now >= earliest && now < Date.UTC(2100, 0)
  const shown = new Date(now).toISOString()
  return {
    name: 'clock',
    ok,
    detail: ok ? shown : `${shown} cannot be. Set the clock of this machine`,
  }
}

async function checkFolder(config: Config): Promise<readonly Check[]> {
  if (!existsSync(config.dataDir)) return [absentFolder(config), ...(await checkStart(config))]
  const running = await attempt('data folder', async () => {
    const answer = await askSocket(config, { method: 'GET', path: '/readyz', body: undefined })
    return { detail: 'held by a running daemon', answer }
  })
  if (running.found === undefined) return [running.check]
  const { answer } = running.found
  if (answer === undefined) return checkIdle(config)
  const ok = answer.status === 200
  const database = ok
    ? 'the running daemon can write'
    : 'the running daemon cannot write: see its log'
  return [
    running.check,
    { name: 'database', ok, detail: database },
    (await attempt('master key', () => askKeys(config))).check,
    ...(await askPayments(config)),
    ...checkSending(answer),
  ]
}

/** Whether deliveries are held back; nothing is said while they are sent. */
function checkSending({ text }: Answer): readonly Check[] {
  const { sending } = JSON.parse(text) as { readonly sending?: string }
  if (sending !== 'paused') return []
  const detail =
    'paused since a backup was restored: `keyhook sending status`, then `keyhook sending resume`'
  return [{ name: 'sending', ok: true, detail }]
}

/** No daemon runs, so this process holds the folder while it checks. */
async function checkIdle(config: Config): Promise<readonly Check[]> {
  const taken = await attempt('data folder', async () => {
    const folder = await takeDataFolder(config.dataDir, 'must exist')
    return { detail: `${folder.path}, no daemon runs`, folder }
  })
  if (taken.found === undefined) return [taken.check]
  const { folder } = taken.found
  try {
    if (usesPostgres(config) || !existsSync(databaseFile(config))) {
      return [taken.check, ...(await checkStart(config))]
    }
    const ports = await checkPorts(config)
    const file = databaseFile(config)
    const masterKeyFile = folder.file('master-key')
    const database = await attempt('database', () =>
      lookAtFile(file, config, masterKeyFile, 'may be opened'),
    )
    if (database.found === undefined) return [taken.check, ...ports, database.check]
    const { stored } = database.found
    if (stored !== undefined) return [taken.check, ...ports, database.check, ...stored]
    const key = await attempt('master key', () => openOnce(config, folder))
    const payments = key.found?.payments ?? []
    return [taken.check, ...ports, database.check, key.check, ...payments]
  } finally {
    await folder.release()
  }
}

/**
 * Before the first start there is nothing to hold: this reports what `serve` would do, and creates nothing.
 */
function absentFolder({ dataDir }: Config): Check {
  const detail = `${resolve(dataDir)} is not there yet. \`keyhook serve\` creates it`
  return { name: 'data folder', ok: true, detail }
}

/** Checks what a start needs without a data folder or SQLite file, or with PostgreSQL. */
async function checkStart(config: Config): Promise<readonly Check[]> {
  const ports = await checkPorts(config)
  if (!usesPostgres(config)) return [...ports, ...(await checkFile(config))]
  // PostgreSQL is only read: daemons of another version may use it.
  let stored: readonly Check[] = []
  const database = await attempt('database', async () => {
    let pending = 0
    const server = await reachPostgres(config.databaseUrl ?? '', {
      async inspect(facts) {
        stored = await checkStored(facts, config, undefined)
        pending = (await facts.pending()).length
      },
    })
    return { detail: `${server} answers${ofPending(pending)}` }
  })
  if (stored.length > 0) return [...ports, database.check, ...stored]
  const isGiven = config.masterKey !== undefined
  const detail = isGiven ? 'given' : 'KEYHOOK_MASTER_KEY must be given with PostgreSQL'
  return [...ports, database.check, { name: 'master key', ok: isGiven, detail }]
}

/**
 * Reads an existing SQLite file. Opening the store would migrate an older schema, so `stored` then holds
 * the checks that reading alone allows; undefined when the store can be opened as it is.
 *
 * @param use whether the store may be opened at all: without the data folder it is only read
 */
async function lookAtFile(
  file: string,
  config: Config,
  masterKeyFile: string,
  use: 'may be opened' | 'only read',
): Promise<{ readonly detail: string; readonly stored: readonly Check[] | undefined }> {
  const { detail } = await quickCheck(file)
  let pending = 0
  let stored: readonly Check[] | undefined
  await reachSqlite(file, {
    async inspect(facts) {
      pending = (await facts.pending()).length
      if (pending > 0 || use === 'only read') {
        stored = await checkStored(facts, config, masterKeyFile)
      }
    },
  })
  return { detail: `${detail}${ofPending(pending)}`, stored }
}

function ofPending(count: number): string {
  const migrations = `${count} migration${count === 1 ? '' : 's'}`
  return count === 0 ? '' : `; \`keyhook serve\` brings its schema up to date (${migrations})`
}

/**
 * Whether brand and master key match an existing database; a new one accepts any.
 *
 * @param masterKeyFile path of the key when the setting is absent; undefined: none
 */
async function checkStored(
  facts: StoredFacts,
  config: Config,
  masterKeyFile: string | undefined,
): Promise<readonly Check[]> {
  if (masterKeyFile !== undefined) {
    const { check } = await attempt('installation', async () => {
      await requireDatabase(dirname(masterKeyFile), facts)
      return { detail: '' }
    })
    if (!check.ok) return [check]
  }
  const brand = await attempt('brand', async () => {
    await requireBrand(facts, config.brand)
    return { detail: config.brand }
  })
  const key = await attempt('master key', async () => {
    const { masterKey } = config
    const hasSecrets = await requireMasterKey(masterKey, masterKeyFile, facts, createRandom())
    if (!hasSecrets) return { detail: newKeyOf(config) }
    return { detail: `${masterKey ? 'given' : 'in the data folder'}, and fits the database` }
  })
  return [brand.check, key.check]
}

/** The key of a database without encrypted secrets. */
function newKeyOf({ masterKey }: Config): string {
  return masterKey === undefined ? 'read from the data folder, or created there' : 'given'
}

/** A SQLite file that no process holds: it may exist without the data folder, which holds its key. */
async function checkFile(config: Config): Promise<readonly Check[]> {
  const file = databaseFile(config)
  if (!existsSync(file)) {
    const begun = await attempt('database', async () => {
      await requireDatabase(resolve(config.dataDir), { meta: async () => undefined })
      return { detail: '' }
    })
    if (!begun.check.ok) return [begun.check]
    return [
      { name: 'database', ok: true, detail: `${file} will be created` },
      { name: 'master key', ok: true, detail: newKeyOf(config) },
    ]
  }
  const masterKeyFile = resolve(config.dataDir, 'master-key')
  const database = await attempt('database', () =>
    lookAtFile(file, config, masterKeyFile, 'only read'),
  )
  return [database.check, ...(database.found?.stored ?? [])]
}

/** Whether the addresses that `serve` listens on are free; a port of 0 always is. */
async function checkPorts(config: Config): Promise<readonly Check[]> {
  const shared = await attempt('apps port', () => {
    requireTwoPorts(config)
    return Promise.resolve({ detail: '' })
  })
  // Otherwise each of the two checks would find the port taken by the other.
  if (!shared.check.ok) return [shared.check]
  const listeners = [
    ['port', 'KEYHOOK_PORT', config.host, config.port],
    ...(config.apps === 'on'
      ? [
          [
            'apps port',
            'KEYHOOK_APPS_PORT',
            config.appsHost ?? config.host,
            appsPortOf(config),
          ] as const,
        ]
      : []),
  ] as const
  return Promise.all(
    listeners.map(async ([name, setting, host, port]) => {
      const looked = await attempt(name, () => listenOnce(host, port, setting))
      return looked.check
    }),
  )
}

async function listenOnce(
  host: string,
  port: number,
  setting: string,
): Promise<{ readonly detail: string }> {
  await tryListening(host, port, setting)
  return { detail: port === 0 ? 'any free one' : `${host}:${port} is free` }
}

async function quickCheck(file: string): Promise<{ readonly detail: string }> {
  const found = await readQuickCheck(file).catch((cause: unknown) => (cause as Error).message)
  if (found === 'ok') return { detail: `${file} is sound` }
  throw new Error(`${file} is damaged (${found}). Restore it from a backup`)
}

async function readQuickCheck(file: string): Promise<string> {
  const database = await openSqliteFile(file, 'read')
  try {
    const [row] = await database.all<{ quick_check: string }>('PRAGMA quick_check(1)')
    return row?.quick_check ?? 'it cannot be read'
  } finally {
    await database.close()
  }
}

/** Opening proves the master keys with an encrypted check value. */
async function openOnce(
  config: Config,
  folder: DataFolder,
): Promise<{ readonly detail: string; readonly payments: readonly Check[] }> {
  // The outbox is a check of its own.
  const own = { ...config, outboxUrl: undefined }
  const local = await openLocal(own, createLog('silent'), folder, 'http://localhost')
  try {
    return { ...(await askKeys(config)), payments: await askPayments(config) }
  } finally {
    await local.close()
  }
}

/** The process that holds the folder has decrypted its secrets, and knows what each key is needed for. */
async function askKeys(config: Config): Promise<{ readonly detail: string }> {
  const request = { method: masterKeyStatus.method, path: masterKeyStatus.path, body: undefined }
  const answer = await askSocket(config, request)
  if (answer?.status !== 200)
    throw new Error('the daemon does not report the status of its master keys: see its log')
  const { data } = masterKeyStatus.output.parse(JSON.parse(answer.text))
  return { detail: data.map((key) => WORDS[key.status](key)).join('; ') }
}

/** What needs an operator's attention of payments; nothing is said where nobody takes money and nobody pays. */
async function askPayments(config: Config): Promise<readonly Check[]> {
  const looked = await attempt('payments', async () => {
    const request = { method: getProcessor.method, path: getProcessor.path, body: undefined }
    const answer = await askSocket(config, request)
    // A service may be without the billing family.
    if (answer?.status === 404) return { detail: '', status: undefined }
    if (answer?.status !== 200)
      throw new Error('the daemon does not report on payments: see its log')
    return { detail: '', status: getProcessor.output.parse(JSON.parse(answer.text)) }
  })
  if (looked.found === undefined) return [looked.check]
  const { status } = looked.found
  if (status === undefined || (status.processor === null && status.elsewhere === 0)) return []
  const { waiting, failed, other_plans, elsewhere } = status
  const found = [
    [waiting, 'events wait'],
    [failed, 'objects could not be applied: see the log'],
    [other_plans, 'accounts have another plan than they pay for'],
    [elsewhere, 'subscriptions go on at a processor that is not configured'],
  ] as const
  const told = found.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  const ok = failed === 0 && elsewhere === 0
  return [{ name: 'payments', ok, detail: told.length === 0 ? 'nothing waits' : told.join('; ') }]
}

type KeyStatus = z.infer<typeof masterKeyStatus.output>['data'][number]

const WORDS: Readonly<Record<KeyStatus['status'], (key: KeyStatus) => string>> = {
  current: ({ id }) => `${id} encrypts`,
  needed: ({ id, sealed }) =>
    `${id} is needed for ${sealed} secrets, which a running daemon re-encrypts`,
  remembered: ({ id, remembered_until }) =>
    `${id} may be removed after ${remembered_until ?? ''}, when kept answers end`,
  removable: ({ id }) => `${id} may be removed`,
  missing: ({ id, sealed, remembered_until }) =>
    sealed > 0
      ? `${id} is missing for ${sealed} secrets: give it again`
      : `${id} is missing for answers kept until ${remembered_until ?? ''}`,
}

import type { Clock } from '../../lib/engine/ports.ts'
import { SECOND } from '../../lib/time.ts'
import type { Records } from '../../plugins/platform/contract/records.ts'
import { APP_BYTES, openDatabase } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { usesPostgres } from '../config/config.ts'
import { FAMILIES } from '../families/index.ts'
import { appsHostingOf, appsPortOf } from '../hosting/apps-hosting.ts'
import { createApp } from '../http/app.ts'
import type { Page } from '../http/documents.ts'
import { documents } from '../http/documents.ts'
import { createControlResolver } from '../http/resolve.ts'
import { statusPage } from '../http/status-page.ts'
import { closeServer, listenLocally } from '../listener/listen.ts'
import type { DataFolder } from '../machine/data-folder.ts'
import { clockOf } from '../machine/ports.ts'
import { COMMANDS_PATH } from '../operations/command.ts'
import { describeCommands } from '../operations/commands.ts'
import type { Family } from '../operations/family.ts'
import { recordsOf } from '../operations/family.ts'
import type { Log } from '../telemetry/log.ts'
import type { Telemetry } from '../telemetry/sdk.ts'
import { openInOrder } from './closers.ts'
import { unloadedExtensions } from './extensions/open.ts'
import type { Inspect, Opened, Storage } from './open.ts'
import { openPlatform } from './open.ts'
import { requireOwnOutbox } from './outbox.ts'
import type { Extensions } from './plugins.ts'

const CLOSE_GRACE = 10 * SECOND

/** The daemon without its listeners. */
export interface Local extends Opened {
  readonly migrated: readonly string[]
}

/** What is served, and where. */
export interface Serving {
  /** Default: all families of the product. */
  readonly families?: readonly Family[]
  readonly appsPort?: number | undefined
  /** Aborts when the process stops. */
  readonly leaving?: AbortSignal
  /** Default: none are loaded, and what needs one is unavailable. */
  readonly extensions?: Extensions
  /** Default: no spans are made. */
  readonly telemetry?: Telemetry | undefined
  /** Default: the clock that the processes of the store share. */
  readonly clock?: Clock | undefined
}

/** Opens the daemon without listeners and without sending, for a command while no daemon runs. */
export async function openLocal(
  config: Config,
  log: Log,
  folder: DataFolder,
  baseUrl: string,
  ownHosts: readonly string[] = [],
  { families = FAMILIES, appsPort = appsPortOf(config), leaving, ...serving }: Serving = {},
): Promise<Local> {
  const { extensions = await unloadedExtensions(config), telemetry, clock } = serving
  return openInOrder(async (closers) => {
    let migrated: readonly string[] = []
    const opened = await openPlatform({
      config,
      log,
      families,
      async openStorage(inspect) {
        const opening = { inspect, records: recordsOf(families) }
        const storage = await openFolder(config, folder, opening, extensions)
        migrated = storage.migrated
        if (migrated.length > 0) log.info({ migrations: migrated }, 'database brought up to date')
        return storage
      },
      appsHosting: appsHostingOf(config, appsPort),
      baseUrl,
      agentProtocols: true,
      operated: true,
      ownHosts,
      leaving,
      extensions,
      telemetry,
      clock,
    })
    closers.push(() => opened.close())
    const control = await openControl(opened, families, { log, ...config }, folder, leaving)
    closers.push(() => closeServer(control, CLOSE_GRACE))
    return { ...opened, migrated }
  })
}

/** Opens the database and the store of app files. */
function openFolder(
  config: Config,
  folder: DataFolder,
  { inspect, records }: { readonly inspect: Inspect; readonly records: readonly Records[] },
  { replaced }: Extensions,
): Promise<Storage & { readonly migrated: readonly string[] }> {
  return openInOrder(async (closers) => {
    const location = config.databaseUrl ?? folder.file('keyhook.db')
    const isPostgres = usesPostgres(config)
    if (!isPostgres) await requireOwnOutbox(config, location)
    const masterKeyFile = isPostgres ? undefined : folder.file('master-key')
    const { store, client, migrated } = await openDatabase(location, {
      records,
      inspect: (stored) => inspect(stored, masterKeyFile),
    })
    closers.push(() => store.close())
    if (replaced.has('apps')) return { store, masterKeyFile, migrated }
    const clock = clockOf(store)
    // Several daemons may share the database, but not a folder.
    const appBytes = isPostgres
      ? await APP_BYTES.database({ client, clock })
      : await APP_BYTES.disk({ folder: folder.file('apps'), clock })
    closers.push(() => appBytes.close())
    return { store, appBytes, masterKeyFile, migrated }
  })
}

/** Commands of the families that the command line does not have itself. */
function commandsPage(families: readonly Family[]): Page {
  const added = families.filter((family) => !FAMILIES.includes(family))
  return { type: 'application/json', body: describeCommands(added) }
}

function openControl(
  { platform, metrics, traffic }: Opened,
  families: readonly Family[],
  { log, logRequests }: Pick<Config, 'logRequests'> & { readonly log: Log },
  folder: DataFolder,
  leaving = new AbortController().signal,
): ReturnType<typeof listenLocally> {
  const app = createApp({
    platform,
    families,
    traffic,
    resolve: createControlResolver(platform),
    rateLimits: { reads: 0, writes: 0 },
    hosts: undefined,
    operatorToken: undefined,
    pages: [documents({ [COMMANDS_PATH]: commandsPage(families) }), statusPage(platform, metrics)],
    log,
    logRequests,
    metrics,
    leaving,
  })
  const handler = app.callback()
  return listenLocally(folder.controlSocket, (request, response) => {
    void handler(request, response)
  })
}

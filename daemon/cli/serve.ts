import type { Command } from 'commander'
import { SECOND } from '../../lib/time.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, readConfig, usesPostgres } from '../config/config.ts'
import type { Daemon, DaemonRoles } from '../daemon.ts'
import type { Terminal } from './terminal.ts'

interface ServeOptions {
  readonly dev?: boolean
  readonly dispatch: boolean
  readonly json?: boolean
}

/** Adds `serve` and `dispatch`, which run until a signal. */
export function addServing(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('Serve the API and send what is due')
    .option('--dev', 'for a first look: loopback only, webhooks to 127.0.0.1, quick retries')
    .option('--no-dispatch', 'serve the API alone, beside `keyhook dispatch` (PostgreSQL)')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<ServeOptions>()
      await run({ api: true, dispatch: options.dispatch }, options, terminal)
    })
  program
    .command('dispatch')
    .description('Send what is due, and serve probes and metrics alone (PostgreSQL)')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      await run({ api: false, dispatch: true }, command.optsWithGlobals<ServeOptions>(), terminal)
    })
}

async function run(
  roles: DaemonRoles,
  { dev = false, json = false }: ServeOptions,
  terminal: Terminal,
): Promise<void> {
  const config = readConfig(terminal.env, dev)
  const isSplit = !roles.api || !roles.dispatch
  if (isSplit && !usesPostgres(config)) {
    throw new ConfigError(
      'KEYHOOK_DATABASE_URL must be postgres://… to split the API from the dispatcher: only one ' +
        'process can use a SQLite file. `keyhook serve` runs both',
    )
  }
  // Registered first: the first process of a container is not ended by signals that it ignores.
  const stopRequested = stopSignal()
  const { createLog } = await import('../telemetry/log.ts')
  const log = createLog(config.logLevel)
  const { startDaemon } = await import('../daemon.ts')
  const daemon = await startDaemon(config, log, roles)
  terminal.out(json ? printStarted(daemon, config) : greet(daemon, config, roles))
  await stopRequested
  log.info('stopping')
  await daemon.stop()
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const

/** Resolves at the first signal; a second one ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    for (const [signal, code] of Object.entries(SIGNALS)) {
      process.on(signal, () => {
        if (isStopping) process.exit(code)
        isStopping = true
        resolve()
      })
    }
  })
}

function printStarted({ url, setupLink }: Daemon, { dev }: Config): string {
  return `${JSON.stringify({ url, dev, setup_link: setupLink ?? null })}\n`
}

/** Message for the person who started it. */
function greet({ url, setupLink, platform }: Daemon, config: Config, { api }: DaemonRoles): string {
  const apps = api && config.apps === 'on' ? platform.appsHosting?.urlOf('<name>') : undefined
  const delays = config.webhookRetrySchedule.map((delay) => delay / SECOND).join(', ')
  const lines = [
    api ? `Keyhook serves ${url}` : `Keyhook sends what is due; probes and metrics at ${url}`,
    ...(apps === undefined ? [] : [`Published apps are at ${apps}`]),
    ...(config.dev
      ? [
          'This is a first look (--dev): it listens on loopback only, receivers on 127.0.0.1 are allowed,',
          `failed deliveries are tried again after ${delays} s, ${config.webhookDisableFailures} failures disable a webhook.`,
        ]
      : []),
    ...(setupLink === undefined ? [] : [`Create the first user within 60 minutes at ${setupLink}`]),
  ]
  return `${lines.join('\n')}\n`
}

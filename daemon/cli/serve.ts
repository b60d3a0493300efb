import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { Option } from 'commander'
import { SECOND } from '../../lib/time.ts'
import type { Config } from '../config/config.ts'
import type { ServeMode } from '../config/in-force.ts'
import { ConfigError, readConfig, usesPostgres } from '../config/config.ts'
import type { Daemon, DaemonRoles } from '#daemon'
import type { CommandPorts } from './operation-command.ts'
import type { Terminal } from './terminal.ts'

interface ServeOptions {
  readonly dev?: boolean
  readonly test?: boolean
  readonly dispatch: boolean
  readonly json?: boolean
}

/** Defines `serve`, which runs until a signal. */
export function defineServe(command: Command, { terminal }: CommandPorts): void {
  command
    .option('--dev', 'for a first look: loopback only, webhooks to 127.0.0.1, quick retries')
    .addOption(
      new Option(
        '--test',
        "for your backend's tests: loopback only, webhooks to 127.0.0.1, nothing kept, a clock that they move",
      ).conflicts(['dev', 'dispatch']),
    )
    .option('--no-dispatch', 'serve the API alone, beside `keyhook dispatch` (PostgreSQL)')
    .option('--json', 'print JSON')
    .action(async () => {
      const options = command.optsWithGlobals<ServeOptions>()
      await run({ api: true, dispatch: options.dispatch }, options, terminal)
    })
}

/** Defines `dispatch`, which runs until a signal. */
export function defineDispatch(command: Command, { terminal }: CommandPorts): void {
  command.option('--json', 'print JSON').action(async () => {
    await run({ api: false, dispatch: true }, command.optsWithGlobals<ServeOptions>(), terminal)
  })
}

async function run(roles: DaemonRoles, options: ServeOptions, terminal: Terminal): Promise<void> {
  const given = readConfig(terminal.env, modeOf(options))
  const isTest = given.mode === 'test'
  const config = isTest ? await configureTest(given) : given
  // A token that was configured is known, and is not for a log.
  const shown = {
    ...config,
    operatorToken: given.operatorToken === undefined ? config.operatorToken : undefined,
  }
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
  const { startDaemon } = await import('#daemon')
  const daemon = await startDaemon(config, log, { ...roles, test: isTest })
  terminal.out(options.json === true ? printStarted(daemon, shown) : greet(daemon, shown, roles))
  await stopRequested
  log.info('stopping')
  await daemon.stop()
}

function modeOf({ dev, test }: ServeOptions): ServeMode | undefined {
  if (test === true) return 'test'
  return dev === true ? 'dev' : undefined
}

/** With a data folder and an operator of its own. */
async function configureTest(config: Config): Promise<Config> {
  const { createTestFolder, requireNoData } = await import('../testing/folder.ts')
  requireNoData(config)
  const operatorToken = config.operatorToken ?? randomBytes(32).toString('hex')
  return { ...config, dataDir: await createTestFolder(), operatorToken }
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

function printStarted({ url, setupLink }: Daemon, { mode, operatorToken }: Config): string {
  const started = { url, dev: mode === 'dev', setup_link: setupLink ?? null }
  const ofTest = mode === 'test' ? { test: true, operator_token: operatorToken ?? null } : {}
  return `${JSON.stringify({ ...started, ...ofTest })}\n`
}

/** Message for the person who started it. */
function greet({ url, setupLink, platform }: Daemon, config: Config, { api }: DaemonRoles): string {
  const apps = api && config.apps === 'on' ? platform.appsHosting?.urlOf('<name>') : undefined
  const delays = config.webhookRetrySchedule.map((delay) => delay / SECOND).join(', ')
  const lines = [
    api ? `Keyhook serves ${url}` : `Keyhook sends what is due; probes and metrics at ${url}`,
    ...(apps === undefined ? [] : [`Published apps are at ${apps}`]),
    ...(config.mode === 'test'
      ? [
          'This is for tests (--test): it listens on loopback only, receivers on 127.0.0.1 are allowed,',
          'and nothing is kept when it stops.',
          `Operator token: ${config.operatorToken ?? 'as configured'}`,
        ]
      : []),
    ...(config.mode === 'dev'
      ? [
          'This is a first look (--dev): it listens on loopback only, receivers on 127.0.0.1 are allowed,',
          `failed deliveries are tried again after ${delays} s, ${config.webhookDisableFailures} failures disable a webhook.`,
        ]
      : []),
    ...(setupLink === undefined ? [] : [`Create the first user within 60 minutes at ${setupLink}`]),
  ]
  return `${lines.join('\n')}\n`
}

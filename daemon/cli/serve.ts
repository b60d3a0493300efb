import type { Command } from 'commander'
import { SECOND } from '../../lib/time.ts'
import type { Config } from '../config.ts'
import { ConfigError, readConfig } from '../config.ts'
import type { Daemon } from '../daemon.ts'
import { createLog } from '../telemetry/log.ts'
import type { Terminal } from './terminal.ts'

interface ServeOptions {
  readonly dev?: boolean
  readonly dispatch: boolean
  readonly json?: boolean
}

/** Adds `serve` and `dispatch`, which run until they are told to stop. */
export function addServing(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('Serve the API and send what is due')
    .option('--dev', 'for a first look: loopback only, webhooks to 127.0.0.1, quick retries')
    .option('--no-dispatch', 'serve the API alone (needs several processes)')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<ServeOptions>()
      if (!options.dispatch) throw needsProcesses()
      await serve(options, terminal)
    })
  program
    .command('dispatch')
    .description('Send what is due without serving the API (needs several processes)')
    .action(() => {
      throw needsProcesses()
    })
}

function needsProcesses(): ConfigError {
  return new ConfigError(
    'Splitting the API from the dispatcher needs several processes on one PostgreSQL database, which ' +
      'this version has not. `keyhook serve` runs both',
  )
}

async function serve(
  { dev = false, json = false }: ServeOptions,
  terminal: Terminal,
): Promise<void> {
  const config = readConfig(terminal.env, dev)
  const log = createLog(config.logLevel)
  // Listened for from the start: the first process of a container is not ended by signals it ignores.
  const told = toldToStop()
  const { startDaemon } = await import('../daemon.ts')
  const daemon = await startDaemon(config, log)
  terminal.out(json ? printStarted(daemon, config) : greet(daemon, config))
  await told
  log.info('stopping')
  await daemon.stop()
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const

/** Resolves at the first signal; a second one ends the process at once. */
function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let told = false
    for (const [signal, code] of Object.entries(SIGNALS)) {
      process.on(signal, () => {
        if (told) process.exit(code)
        told = true
        resolve()
      })
    }
  })
}

function printStarted({ url, setupLink }: Daemon, { dev }: Config): string {
  return `${JSON.stringify({ url, dev, setup_link: setupLink ?? null })}\n`
}

/** What a person sees who started it. */
function greet({ url, setupLink }: Daemon, config: Config): string {
  const delays = config.webhookRetrySchedule.map((delay) => delay / SECOND).join(', ')
  const lines = [
    `Keyhook serves ${url}`,
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

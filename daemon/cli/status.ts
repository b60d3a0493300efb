import type { Command } from 'commander'
import { setTimeout as pause } from 'node:timers/promises'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, readConfig } from '../config/config.ts'
import type { DaemonStatus } from '../telemetry/status.ts'
import { STATUS_PATH } from '../telemetry/status.ts'
import type { CommandPorts } from './operation-command.ts'
import { align } from './print.ts'

const EVERY: Millis = SECOND
const ANSWER_WITHIN: Millis = 5 * SECOND

/** Defines `status`, which shows what the daemon of this machine does until Ctrl-C, or once where nobody watches. */
export function defineStatus(command: Command, { terminal }: CommandPorts): void {
  const { env, out, screen } = terminal
  command.option('--json', 'print JSON, once').action(async () => {
    const config = readConfig(env)
    const { json } = command.optsWithGlobals<{ readonly json?: boolean }>()
    const first = await read(config)
    if (first === undefined) throw new ConfigError(NOBODY)
    if (json === true) out(`${JSON.stringify(first)}\n`)
    else if (screen === undefined) out(printStatus(first, undefined))
    else await watch(config, first, screen)
  })
}

const NOBODY = 'KEYHOOK_DATA_DIR has no running daemon: start it with `keyhook serve`'

async function read(config: Config): Promise<DaemonStatus | undefined> {
  const { askSocket } = await import('./ask.ts')
  const request = { method: 'GET', path: STATUS_PATH, body: undefined }
  const answer = await askSocket(config, request, undefined, ANSWER_WITHIN)
  if (answer === undefined) return undefined
  if (answer.status === 200) return JSON.parse(answer.text) as DaemonStatus
  throw new Error(`the daemon answers ${answer.status}: it may be of another version`)
}

/** A daemon that is started again, or is too busy to answer, is watched further. */
async function watch(
  config: Config,
  first: DaemonStatus,
  screen: (page: string) => void,
): Promise<never> {
  let [before, now]: readonly (DaemonStatus | undefined)[] = [undefined, first]
  for (;;) {
    screen(now === undefined ? `${NOBODY}\n` : printStatus(now, before))
    await pause(EVERY)
    before = now
    now = await read(config).catch(() => undefined)
  }
}

/** The page; rates are those since the page before, and of the same process. */
export function printStatus(now: DaemonStatus, before: DaemonStatus | undefined): string {
  const isSame = before !== undefined && before.uptime_seconds <= now.uptime_seconds
  const rate = (name: 'events_total' | 'attempts_total' | 'requests_total'): string => {
    const total = now[name] ?? 0
    if (!isSame) return `${total} since the start`
    const seconds = (Date.parse(now.at) - Date.parse(before.at)) / SECOND
    return `${((total - (before[name] ?? 0)) / seconds).toFixed(1)}/s, ${total} since the start`
  }
  const rows = [
    ['sending', now.sending === 'active' ? 'active' : 'PAUSED: see `keyhook sending status`'],
    [
      'unfinished deliveries',
      `${count(now.unfinished_deliveries)}, ${count(now.claimed_deliveries)} claimed here`,
    ],
    ['oldest due', `${count(now.oldest_due_seconds)} s, of ${count(now.webhooks_due)} webhooks`],
    ['failing webhooks', count(now.webhooks_failing)],
    ['events', rate('events_total')],
    ['attempts', rate('attempts_total')],
    ['requests', rate('requests_total')],
    ...(now.attempts_unrecorded === 0
      ? []
      : [['UNRECORDED', `${count(now.attempts_unrecorded)} outcomes: see the log`]]),
  ]
  const errors = now.last_errors.map(({ at, webhook_id, error, reason, status_code }) => [
    `  ${at}`,
    webhook_id,
    String(status_code ?? reason ?? error),
  ])
  return [
    `keyhook ${now.version}, up ${now.uptime_seconds} s, at ${now.at}\n\n`,
    align(rows),
    '\nLast errors of this process\n',
    errors.length === 0 ? '  None.\n' : align(errors),
  ].join('')
}

function count(value: number | null): string {
  return value === null ? '?' : String(Math.round(value))
}

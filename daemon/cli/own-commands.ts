import type { Command } from 'commander'
import type { CommandPorts } from './operation-command.ts'

/** Adds the arguments, options and action of a command, or further commands below it. */
export type Define = (command: Command, ports: CommandPorts) => void

/** A command beside those of operations. Its module is loaded when it is run or its help is shown. */
export interface OwnCommand {
  readonly name: string
  readonly summary: string
  /** Runs without a login: it is of the machine it runs on, or changes the login. */
  readonly withoutLogin?: boolean
  /** Describes every command, so that all are loaded. */
  readonly describesAll?: boolean
  load(): Promise<Define>
}

/** In the order of the help. */
export const OWN_COMMANDS: readonly OwnCommand[] = [
  {
    name: 'serve',
    summary: 'Serve the API and send what is due',
    withoutLogin: true,
    load: async () => (await import('./serve.ts')).defineServe,
  },
  {
    name: 'dispatch',
    summary: 'Send what is due, and serve probes and metrics alone (PostgreSQL)',
    withoutLogin: true,
    load: async () => (await import('./serve.ts')).defineDispatch,
  },
  {
    name: 'doctor',
    summary: 'Check the configuration, the data folder, the database and the master key',
    withoutLogin: true,
    load: async () => (await import('./doctor-command.ts')).defineDoctor,
  },
  {
    name: 'agent',
    summary: 'Create a key for an agent, and print the configuration of its client',
    load: async () => (await import('./agent.ts')).defineAgent,
  },
  {
    name: 'outbox',
    summary: 'Print the statements that create the outbox in the database of your backend',
    withoutLogin: true,
    load: async () => (await import('./outbox.ts')).defineOutbox,
  },
  {
    name: 'backup',
    summary: 'Create, verify, restore, list or rehearse backups',
    withoutLogin: true,
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  {
    name: 'status',
    summary: 'Show what the daemon does: backlog, rates, failing webhooks, last errors',
    load: async () => (await import('./status.ts')).defineStatus,
  },
  {
    name: 'upgrade',
    summary: 'Say what a start of this version would change, and whether daemons must stop',
    withoutLogin: true,
    load: async () => (await import('./upgrade.ts')).defineUpgrade,
  },
  {
    name: 'login',
    summary: 'Keep the address and the key of a daemon for the commands of this user',
    withoutLogin: true,
    load: async () => (await import('./login.ts')).defineLogin,
  },
  {
    name: 'logout',
    summary: 'Forget the address and the key that login kept; the key stays valid',
    withoutLogin: true,
    load: async () => (await import('./login.ts')).defineLogout,
  },
  {
    name: 'proxy-example',
    summary: 'Print the configuration of a proxy for these settings',
    withoutLogin: true,
    load: async () => (await import('./proxy-example.ts')).defineProxyExample,
  },
  {
    name: 'completion',
    summary: 'Print the completion of commands for a shell',
    withoutLogin: true,
    describesAll: true,
    load: async () => (await import('./completion.ts')).defineCompletion,
  },
  {
    name: 'listen',
    summary: 'Forward events to a server on your machine, signed as deliveries are',
    load: async () => (await import('./follow.ts')).defineListen,
  },
]

/** Commands of a group that no operation makes, by group. */
export const BESIDE_OPERATIONS: ReadonlyMap<string, () => Promise<Define>> = new Map([
  ['event', async () => (await import('./follow.ts')).addTail],
])

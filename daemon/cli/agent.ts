import type { Command } from 'commander'
import { Argument, Option } from 'commander'
import type { AgentFile, ClientName } from './agent-files.ts'
import { CLIENTS, agentFiles } from './agent-files.ts'
import type { Answer } from './ask.ts'
import { addShared } from './command.ts'
import type { CommandPorts } from './operation-command.ts'
import type { Wire } from './print.ts'
import { printError } from './print.ts'
import { readExpiry } from './request.ts'

const VARIABLE = 'KEYHOOK_AGENT_KEY'
const READS = [
  'apps:read',
  'edits:read',
  'files:read',
  'deploy:read',
  'observe:read',
  'discovery:read',
]
const WRITES = ['apps:write', 'edits:write', 'files:write']
const EXPIRES = '30d'

interface AgentOptions {
  readonly readOnly?: boolean
  readonly publish?: boolean
  readonly app?: readonly string[]
  readonly scopes?: readonly string[]
  readonly name: string
  readonly expires?: string
  readonly json?: boolean
  readonly account?: string
}

/** Defines `agent`, which creates a key for an agent and prints what its client needs. */
export function defineAgent(command: Command, ports: CommandPorts): void {
  command
    .addArgument(new Argument('[client]', 'the client; default: each').choices(CLIENTS))
    .option('--read-only', 'only tools that read, and a key that only reads')
    .addOption(new Option('--publish', 'a key that may also publish apps').conflicts('readOnly'))
    .option('--app <id>', 'only this app; may be repeated', append)
    .addOption(
      new Option('--scopes <list>', 'scopes of the key, comma separated, in place of these')
        .argParser(splitList)
        .conflicts(['readOnly', 'publish']),
    )
    .option('--name <text>', 'name of the key', 'Agent')
    .option('--expires <time>', 'from now, such as 12h, or an instant; 30d when missing', (text) =>
      readExpiry(text, Date.now()),
    )
  addShared(command).action(async (client: ClientName | undefined) => {
    await run(client, command.optsWithGlobals<AgentOptions>(), ports)
  })
}

function append(text: string, before: readonly string[] = []): readonly string[] {
  return [...new Set([...before, text])]
}

function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

async function run(
  client: ClientName | undefined,
  options: AgentOptions,
  ports: CommandPorts,
): Promise<void> {
  const { account } = options
  // First, so that no key is created where nothing is served.
  const found = await read(ports, options, () =>
    ports.ask({ method: 'GET', path: '/v1/discovery', body: undefined }, account),
  )
  if (found === undefined) return
  const { service, interfaces } = found as unknown as Found
  if (interfaces.mcp === null) {
    ports.exit(1)
    ports.terminal.err('This service has no tools for agents.\n')
    return
  }
  const body = JSON.stringify(keyOf(options))
  const created = await read(ports, options, () =>
    ports.ask({ method: 'POST', path: '/v1/keys', body }, account),
  )
  if (created === undefined) return
  const server = { name: service, url: addressOf(interfaces.mcp, options), variable: VARIABLE }
  const files = agentFiles(client === undefined ? CLIENTS : [client], server)
  const { json = false } = options
  ports.terminal.out(
    json
      ? `${JSON.stringify({ key: created, variable: VARIABLE, files })}\n`
      : print(created, files),
  )
}

interface Found {
  readonly service: string
  readonly interfaces: { readonly mcp: string | null }
}

/** A response; undefined for a refusal, which is shown. */
async function read(
  { terminal, exit }: CommandPorts,
  { json = false }: AgentOptions,
  ask: () => Promise<Answer>,
): Promise<Wire | undefined> {
  const { status, text } = await ask()
  const body = JSON.parse(text) as Wire
  if (status < 400) return body
  exit(1)
  if (json) terminal.out(`${text}\n`)
  else terminal.err(printError(body))
  return undefined
}

/** A key that may do no more than the options say. */
function keyOf({ readOnly, publish, app, scopes, name, expires }: AgentOptions): object {
  const granted = [
    ...READS,
    ...(readOnly === true ? [] : WRITES),
    ...(publish === true ? ['deploy:write'] : []),
  ]
  return {
    name,
    scopes: scopes ?? granted,
    expires_at: expires ?? readExpiry(EXPIRES, Date.now()),
    ...(app === undefined ? {} : { apps: app }),
  }
}

/** The tools of one app need not be told which. */
function addressOf(mcp: string, { readOnly, app = [] }: AgentOptions): string {
  const url = new URL(mcp)
  const [only, ...others] = app
  if (only !== undefined && others.length === 0) url.searchParams.set('app', only)
  if (readOnly === true) url.searchParams.set('read_only', 'true')
  return url.href
}

function print(created: Wire, files: readonly AgentFile[]): string {
  return [
    `export ${VARIABLE}=${String(created['key'])}`,
    '',
    `The key is shown once, and ends on ${String(created['expires_at'])}. Keep it in the environment of the client:`,
    'its files are committed, and refer to the variable.',
    ...files.flatMap(({ title, path, text, note }) => [
      '',
      `${title}: ${path}`,
      ...(note === undefined ? [] : [note]),
      text.trimEnd(),
    ]),
    '',
  ].join('\n')
}

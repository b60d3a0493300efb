import type { Command } from 'commander'
import { ConfigError } from '../config/setting.ts'
import { parseRemoteKey, parseRemoteUrl } from '../config/values.ts'
import { keepLogin, removeLogin } from './credentials.ts'
import type { CommandPorts } from './operation-command.ts'
import type { Remote } from './remote.ts'
import { askRemote } from './remote.ts'
import type { Terminal } from './terminal.ts'

/** Defines `login`: which daemon elsewhere commands of this user reach without a setting. */
export function defineLogin(command: Command, { terminal }: CommandPorts): void {
  command
    .argument('[url]')
    .option('--json', 'print JSON')
    .action(async (url: string | undefined) => {
      const { json = false } = command.optsWithGlobals<{ readonly json?: boolean }>()
      const login = await read(url, terminal)
      const key = await verify(login)
      const file = await keepLogin(terminal.env, login)
      const text = `Logged in to ${login.url} with the key ${key.name} (${key.id}), kept in ${file}.\n`
      const shown = { url: login.url, key_id: key.id, name: key.name, scopes: key.scopes, file }
      terminal.out(json ? `${JSON.stringify(shown)}\n` : text)
    })
}

/** Defines `logout`. */
export function defineLogout(command: Command, { terminal }: CommandPorts): void {
  command.action(async () => {
    const was = await removeLogin(terminal.env)
    terminal.out(was ? 'Logged out.\n' : 'There was no login.\n')
  })
}

/**
 * Of a person, or the lines of standard input: the address, unless it is an argument, and the key.
 *
 * @throws ConfigError that says what the address or the key must be
 */
async function read(url: string | undefined, { prompt, readInput }: Terminal): Promise<Remote> {
  if (prompt !== undefined) {
    // Judged before the key is asked for.
    const address = parseUrl(url ?? (await prompt('Address of the daemon: ', 'shown')))
    return { url: address, key: parseKey(await prompt('Key: ', 'hidden')) }
  }
  const lines = (await readInput()).split(/\r?\n/).filter((line) => line !== '')
  const [address = '', key = ''] = url === undefined ? lines : [url, ...lines]
  return { url: parseUrl(address), key: parseKey(key) }
}

function parseUrl(text: string): string {
  return parse('address', text, parseRemoteUrl, 'give it as an argument or on standard input')
}

function parseKey(text: string): string {
  return parse('key', text, parseRemoteKey, 'give it on standard input, in a line of its own')
}

function parse(
  what: string,
  text: string,
  parseGiven: (text: string) => string,
  remedy: string,
): string {
  const given = text.trim()
  if (given === '') throw new ConfigError(`no ${what} was given: ${remedy}`)
  try {
    return parseGiven(given)
  } catch (cause) {
    throw new ConfigError(`the ${what} ${(cause as Error).message}`, { cause })
  }
}

interface OwnKey {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
}

/** @throws ConfigError for a key that the daemon refuses */
async function verify(login: Remote): Promise<OwnKey> {
  const request = { method: 'GET', path: '/v1/keys/self', body: undefined } as const
  const { status, text } = await askRemote(login, request, undefined)
  const body = JSON.parse(text) as OwnKey & { readonly error?: { readonly message: string } }
  if (status === 200) return body
  throw new ConfigError(`${login.url} refuses the key: ${body.error?.message ?? status}`)
}

import type { Command } from 'commander'
import { ConfigError } from '../config/config.ts'
import { SETTINGS } from '../config/settings.ts'
import { keepLogin, removeLogin } from './credentials.ts'
import type { Remote } from './remote.ts'
import { askRemote } from './remote.ts'
import type { Terminal } from './terminal.ts'

/** Adds `login` and `logout`: which daemon elsewhere commands of this user reach without a setting. */
export function addLogin(program: Command, terminal: Terminal): void {
  program
    .command('login [url]')
    .description('Keep the address and the key of a daemon for the commands of this user')
    .option('--json', 'print JSON')
    .action(async (url: string | undefined, _: unknown, command: Command) => {
      const { json = false } = command.optsWithGlobals<{ readonly json?: boolean }>()
      const login = parse(await read(url, terminal))
      const key = await verify(login)
      const file = await keepLogin(terminal.env, login)
      const text = `Logged in to ${login.url} with the key ${key.name} (${key.id}), kept in ${file}.\n`
      const shown = { url: login.url, key_id: key.id, name: key.name, scopes: key.scopes, file }
      terminal.out(json ? `${JSON.stringify(shown)}\n` : text)
    })
  program
    .command('logout')
    .description('Forget the address and the key that login kept; the key stays valid')
    .action(async () => {
      const was = await removeLogin(terminal.env)
      terminal.out(was ? 'Logged out.\n' : 'There was no login.\n')
    })
}

/** Of a person, or the lines of standard input: the address, unless it is an argument, and the key. */
async function read(url: string | undefined, { prompt, readInput }: Terminal): Promise<Remote> {
  if (prompt !== undefined) {
    return {
      url: url ?? (await prompt('Address of the daemon: ', 'shown')),
      key: await prompt('Key: ', 'hidden'),
    }
  }
  const lines = (await readInput()).split(/\r?\n/).filter((line) => line !== '')
  const [first = '', second = ''] = lines
  return url === undefined ? { url: first, key: second } : { url, key: first }
}

/** @throws ConfigError that says what the address or the key must be */
function parse({ url, key }: Remote): Remote {
  const read = <T>(what: string, value: () => T): T => {
    try {
      return value()
    } catch (cause) {
      throw new ConfigError(`${what} ${(cause as Error).message}`, { cause })
    }
  }
  const address = read('the address', () => SETTINGS.url.parse(url.trim()))
  const secret = read('the key', () => SETTINGS.key.parse(key.trim()))
  if (address === undefined || secret === undefined) throw new ConfigError('nothing was given')
  return { url: address, key: secret }
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

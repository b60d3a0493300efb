import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { DaemonProcess } from './daemon.ts'
import { startDaemonProcess } from './daemon.ts'
import { freePort } from './free-port.ts'
import type { Backend } from './outbox.ts'
import type { Shell } from './page.ts'
import { blocksFor, blocksOf, openShell, settingsOf, walk } from './page.ts'
import type { Receiver } from './receiver.ts'
import { startReceiver } from './receiver.ts'
import type { Command } from './receivers/languages.ts'

/** A program of docs/other-languages.md. */
export interface ShopLanguage {
  readonly name: string
  /** Of its blocks on the page: `sh go`. */
  readonly kind: string
  readonly dialect: Backend['dialect']
  /** Commands that fail where the machine lacks what the page uses. */
  readonly tools: readonly Command[]
}

export const SHOP_LANGUAGES: readonly ShopLanguage[] = [
  { name: 'Python', kind: 'python', dialect: 'sqlite', tools: [['python3', '--version']] },
  {
    name: 'Go',
    kind: 'go',
    dialect: 'postgres',
    tools: [
      ['go', 'version'],
      ['psql', '--version'],
    ],
  },
  {
    name: 'Java',
    kind: 'java',
    dialect: 'sqlite',
    tools: [
      ['javac', '--release', '17', '-version'],
      ['mvn', '-version'],
      ['sqlite3', '--version'],
    ],
  },
]

/** The page, followed to its end. */
export interface ShopPage {
  readonly shell: Shell
  readonly daemon: DaemonProcess
  /** Of the customer: it answers 204. */
  readonly receiver: Receiver
  readonly shopUrl: string
  /** Starts the page's program again and answers its process id. */
  startShop(settings?: string): Promise<number>
  operatorToken(): Promise<string>
  /** Has the customer's receiver answer no delivery until the answer is called. */
  holdDeliveries(): () => void
}

/**
 * Follows the page as a reader does, in an empty folder.
 *
 * @param kind whose program is run; undefined for none
 */
export async function followPage(
  t: Test,
  kind: string | undefined,
  backend: Backend,
  folder: string,
): Promise<ShopPage> {
  let held: Promise<void> = Promise.resolve()
  const receiver = await startReceiver((socket) => {
    void held.then(() => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
  })
  const [port, shopPort] = [await freePort(), await freePort()]
  const all = blocksOf('other-languages.md', {
    8420: port,
    9000: receiver.port,
    3000: shopPort,
    'postgres://shop:password@127.0.0.1/shop': addressOf(backend),
  })
  const at = all.findIndex((block) => block.kind === 'sh daemon')
  const mine = ['token', ...(kind === undefined ? [] : [kind, 'shop'])]
  for (const block of all) {
    const [, name] = /^\w+ (\S+\.\w+)$/.exec(block.kind) ?? []
    if (name !== undefined) writeFileSync(join(folder, name), block.text)
  }
  // Package managers find their registries in the environment.
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('KEYHOOK_'))
  const shell = openShell(folder, Object.fromEntries(env))
  t.teardown(() => shell.close())
  await walk(t, blocksFor(all.slice(0, at), mine), shell)

  // The page's command, but for `npm ci`, which whoever runs this test has just done.
  const command = all[at]?.text ?? ''
  t.match(command, 'npm start -- --dev')
  const { KEYHOOK_OUTBOX_URL: _, ...settings } = settingsOf(command)
  const daemon = await startDaemonProcess({
    ...settings,
    ...(kind === undefined ? {} : { KEYHOOK_OUTBOX_URL: backend.url }),
    KEYHOOK_OPERATOR_TOKEN_FILE: join(folder, 'operator-token'),
    KEYHOOK_DATA_DIR: join(folder, 'data'),
    KEYHOOK_PORT: String(port),
  })
  t.teardown(async () => {
    await daemon.end('SIGTERM')
    await receiver.close()
  })
  await walk(t, blocksFor(all.slice(at), mine), shell)
  // The page ends its shop without waiting for it: another must find the port free.
  await shell.run('wait $SHOP')

  const started = all.find((block) => block.kind === `sh ${kind}` && block.text.includes('SHOP=$!'))
  const start = started?.text.trim().split('\n').at(-1) ?? ''
  return {
    shell,
    daemon,
    receiver,
    shopUrl: `http://127.0.0.1:${shopPort}/orders`,
    async startShop(given = '') {
      const asked = `curl -s -o /dev/null http://127.0.0.1:${shopPort}/`
      const until = `until ${asked} || ! kill -0 $SHOP; do sleep 0.05; done`
      const lines = (await shell.run(`${given} ${start}\n${until}\necho $SHOP`)).trim().split('\n')
      return Number(lines.at(-1))
    },
    operatorToken: async () => (await shell.run('cat operator-token')).trim(),
    holdDeliveries() {
      let release = (): void => undefined
      held = new Promise((resolve) => (release = resolve))
      return release
    },
  }
}

/** The address of a test's server, which listens on a Unix socket, as psql and lib/pq read it. */
function addressOf({ dialect, url }: Backend): string {
  if (dialect === 'sqlite') return url
  const { searchParams, username, pathname } = new URL(url)
  searchParams.set('user', username)
  searchParams.set('sslmode', 'disable')
  return `postgres://${pathname}?${searchParams.toString()}`
}

/** The orders that deliveries tell of, once each, sorted. */
export function deliveredOrders({ requests }: Receiver): readonly string[] {
  const numbers = requests.map(
    ({ body }) => (JSON.parse(body) as { data: { number: string } }).data.number,
  )
  return [...new Set(numbers)].sort()
}

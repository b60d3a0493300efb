import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { RESP_TYPES, createClient } from '@redis/client'
import amqplib from 'amqplib'
import { MINUTE } from '../../lib/time.ts'
import type { Received } from '../../plugins/destinations/conformance.ts'
import { freePort } from './free-port.ts'

/** A real server on loopback, which can be killed and started again over the same files. */
export interface Broker {
  /** The address of a declared destination, without options. */
  readonly url: string
  /** Kills it as a power cut would; what it has stored stays. */
  kill(): Promise<void>
  /** Starts it again at the same port. */
  start(): Promise<void>
  /** Makes it take what `name` sends: a durable queue, or a stream. */
  prepare(name: string): Promise<void>
  /** Makes it hang: connections stay open, and nothing is answered. `resume` ends that. */
  hang(): void
  resume(): void
  /** What arrived for a name, oldest first; it is left there. */
  received(name: string): Promise<readonly Received[]>
  /** Makes it refuse what `name` sends. */
  refuse(name: string): Promise<void>
  close(): Promise<void>
}

const execute = promisify(execFile)

const RABBITMQ = '/usr/lib/rabbitmq/bin/rabbitmq-server'
const RABBITMQ_CONTROL = '/usr/lib/rabbitmq/bin/rabbitmqctl'

/** Servers that are not installed, by package; test/soak/brokers.sh installs them. */
export function missingBrokers(): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const hasRedis = folders.some((folder) => existsSync(join(folder, 'redis-server')))
  return [
    ...(existsSync(RABBITMQ) ? [] : ['rabbitmq-server']),
    ...(hasRedis ? [] : ['redis-server']),
  ]
}

/** Kills its group once the pipe (descriptor 3) closes, also because this process was killed. */
const UNTIL_CLOSED = '{ read -r _ <&3; kill -KILL -- -$$; } >/dev/null 2>&1 & exec "$0" "$@" 3<&-'

/** Runs a program in a process group of its own. */
function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawn('/bin/sh', ['-c', UNTIL_CLOSED, program, ...args], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], ...env },
  })
}

async function killGroup(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGKILL')
  await ended
}

/** Tries until the server answers. */
async function answers(ask: () => Promise<unknown>): Promise<void> {
  const end = Date.now() + MINUTE
  for (;;) {
    try {
      await ask()
      return
    } catch (cause) {
      if (Date.now() > end) throw cause
      await delay(100)
    }
  }
}

/** What a server keeps in a folder and runs there. */
interface Server {
  readonly folder: string
  readonly port: number
  start(): Promise<readonly ChildProcess[]>
}

async function hold(
  create: (folder: string, port: number) => Promise<Server>,
): Promise<
  Pick<Broker, 'kill' | 'start' | 'hang' | 'resume' | 'close'> & { readonly port: number }
> {
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-broker-'))
  const server = await create(folder, await freePort())
  let running: readonly ChildProcess[] = []
  const kill = async (): Promise<void> => {
    for (const one of running) await killGroup(one)
    running = []
  }
  const signal = (name: NodeJS.Signals): void => {
    for (const { pid } of running) if (pid !== undefined) process.kill(-pid, name)
  }
  const start = async (): Promise<void> => {
    running = await server.start()
  }
  await start()
  return {
    port: server.port,
    kill,
    start,
    hang: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async close() {
      await kill()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Starts a Redis that syncs every write before it answers. */
export async function startRedis(): Promise<Broker> {
  const held = await hold(async (folder, port) => ({
    folder,
    port,
    async start() {
      const settings = {
        port,
        bind: '127.0.0.1',
        dir: folder,
        save: '',
        appendonly: 'yes',
        appendfsync: 'always',
      }
      const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`])
      const child = run('redis-server', flags)
      await answers(() => ask(port, async () => undefined))
      return [child]
    },
  }))
  return {
    ...held,
    url: `redis://127.0.0.1:${held.port}`,
    prepare: () => Promise.resolve(),
    received: (name) =>
      ask(held.port, async (client) => {
        const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
        const entries = (await bytes.xRange(name, '-', '+')) ?? []
        return entries.map(({ message }) => receivedOf(message))
      }),
    refuse: (name) => ask(held.port, async (client) => void (await client.set(name, 'no stream'))),
  }
}

function receivedOf(fields: Readonly<Record<string, Buffer>>): Received {
  const { id, type, headers, body = Buffer.alloc(0) } = fields
  return {
    id: String(id),
    type: String(type),
    body,
    headers: JSON.parse(String(headers)) as Record<string, string>,
  }
}

type Client = ReturnType<typeof createReader>

function createReader(port: number) {
  return createClient({
    url: `redis://127.0.0.1:${port}`,
    socket: { reconnectStrategy: false },
  }).on('error', () => undefined)
}

async function ask<T>(port: number, work: (client: Client) => Promise<T>): Promise<T> {
  const client = createReader(port)
  await client.connect()
  try {
    await client.ping()
    return await work(client)
  } finally {
    client.destroy()
  }
}

/** A RabbitMQ can be short of memory: it keeps connections and takes no message. */
export interface RabbitMq extends Broker {
  /** @param memory maximum bytes, such as `512MB`; `1` is always too little */
  setMemory(memory: string): Promise<void>
}

/** Starts a RabbitMQ of one node, with an epmd of its own. */
export async function startRabbitMq(): Promise<RabbitMq> {
  let control = (..._command: readonly string[]): Promise<void> => Promise.resolve()
  const held = await hold(async (folder, port) => {
    const ports = { epmd: await freePort(), dist: await freePort() }
    const config = join(folder, 'rabbitmq.conf')
    await mkdir(join(folder, 'data'))
    const settings = [
      `listeners.tcp.1 = 127.0.0.1:${port}`,
      'vm_memory_high_watermark.absolute = 512MB',
      'disk_free_limit.absolute = 1MB',
      'log.console = false',
      'log.file = false',
    ]
    await writeFile(config, `${settings.join('\n')}\n`)
    await writeFile(join(folder, 'enabled_plugins'), '[].\n')
    const env = {
      HOME: folder,
      ERL_EPMD_PORT: String(ports.epmd),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      RABBITMQ_NODENAME: 'keyhook@localhost',
      RABBITMQ_DIST_PORT: String(ports.dist),
      RABBITMQ_MNESIA_BASE: join(folder, 'data'),
      RABBITMQ_LOG_BASE: folder,
      RABBITMQ_CONFIG_FILE: config,
      RABBITMQ_CONF_ENV_FILE: join(folder, 'none'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
      RABBITMQ_PID_FILE: join(folder, 'pid'),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
        '-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none',
    }
    control = async (...command) => {
      await execute(RABBITMQ_CONTROL, command, { env: { PATH: process.env['PATH'], ...env } })
    }
    return {
      folder,
      port,
      async start() {
        const names = run('epmd', ['-port', env.ERL_EPMD_PORT], env)
        await answers(() => opens(ports.epmd))
        const server = run(RABBITMQ, [], env)
        await answers(() => inChannel(port, async () => undefined))
        return [server, names]
      },
    }
  })
  const { port } = held
  return {
    ...held,
    url: `amqp://127.0.0.1:${port}`,
    prepare: (name) =>
      inChannel(port, async (channel) => void (await channel.assertQueue(name, { durable: true }))),
    received: (name) =>
      inChannel(port, async (channel) => {
        const received: Received[] = []
        for (;;) {
          // Unacknowledged: they go back when the channel closes.
          const got = await channel.get(name)
          if (got === false) return received
          const { messageId, type, headers } = got.properties as {
            readonly messageId: string
            readonly type: string
            readonly headers: Record<string, string>
          }
          received.push({ id: messageId, type, headers, body: got.content })
        }
      }),
    refuse: (name) => inChannel(port, async (channel) => void (await channel.deleteQueue(name))),
    setMemory: (memory) => control('set_vm_memory_high_watermark', 'absolute', memory),
  }
}

async function inChannel<T>(
  port: number,
  work: (channel: amqplib.Channel) => Promise<T>,
): Promise<T> {
  const connection = await amqplib.connect(`amqp://127.0.0.1:${port}`, { timeout: 5000 })
  connection.on('error', () => undefined)
  try {
    const channel = await connection.createChannel()
    return await work(channel)
  } finally {
    await connection.close().catch(() => undefined)
  }
}

function opens(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve()
    }).once('error', reject)
  })
}

/** A proxy in front of a daemon, as Debian packages it, and a client that reaches it by the names of its sites. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { until } from './daemon.ts'

export interface FrontProxy {
  end(): Promise<void>
}

interface Started {
  readonly folder: string
  readonly port: number
  /** What `keyhook proxy-example` printed. */
  readonly config: string
}

const MAIN = (folder: string): string => `
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((one) => `${one}_temp_path ${folder}/${one};`)
      .join(' ')}
    include ${folder}/keyhook.conf;
}
`

/** Nothing of the machine's is changed: no port beside the sites', and no certificate is trusted. */
const CADDY = '{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n'

/** How each proxy is started over what was printed for it. */
export const FRONT_PROXIES = {
  caddy: async ({ folder, config }: Started): Promise<ChildProcess> => {
    const file = join(folder, 'Caddyfile')
    await writeFile(file, CADDY + config)
    const env = { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder }
    const args = ['run', '--config', file, '--adapter', 'caddyfile']
    return spawn('caddy', args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  },
  nginx: async ({ folder, config }: Started): Promise<ChildProcess> => {
    const file = join(folder, 'nginx.conf')
    await writeFile(file, MAIN(folder))
    await writeFile(join(folder, 'keyhook.conf'), config)
    const args = ['-p', folder, '-c', file, '-g', 'daemon off;']
    return spawn('/usr/sbin/nginx', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  },
} as const

/** Starts a proxy, and waits until it accepts connections. */
export async function startFrontProxy(
  name: keyof typeof FRONT_PROXIES,
  started: Started,
): Promise<FrontProxy> {
  const child = await FRONT_PROXIES[name](started)
  const said: string[] = []
  child.stderr?.on('data', (chunk: Buffer) => said.push(chunk.toString()))
  const exited = once(child, 'exit')
  await until(`${name} listens`, async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${said.join('')}`)
    return accepts(started.port)
  })
  return {
    async end() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false)
  socket.destroy()
  return isOpen
}

export interface Reply {
  readonly status: number
  readonly text: string
}

/** Sends requests to the sites of a proxy on loopback, whatever the names say. */
export function siteClient(port: number, ca: readonly string[]) {
  const agent = new Agent({ ca: [...ca], keepAlive: true })
  const open = async (
    host: string,
    path: string,
    { method = 'GET', headers, body }: Sent = {},
  ): Promise<IncomingMessage> => {
    const to = { host: '127.0.0.1', port, servername: host, path, method, agent }
    const sent = request({ ...to, headers: { ...headers, host: `${host}:${port}` } })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }
  return {
    open,
    async ask(...args: Parameters<typeof open>): Promise<Reply> {
      const response = await open(...args)
      return { status: response.statusCode ?? 0, text: await text(response) }
    },
    close: () => {
      agent.destroy()
    },
  }
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

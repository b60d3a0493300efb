import { once } from 'node:events'
import type { AddressInfo, NetConnectOpts, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** `out`: from the daemon to its database; `back`: the answers. */
export type Way = 'out' | 'back'

/** Stands between one daemon and PostgreSQL, on a loopback port of its own. */
export interface Proxy {
  /** The database's URL by way of it. */
  readonly url: string
  /** Every byte takes so much longer, each way. */
  delay(millis: number): void
  /** Nothing goes on and nobody is told; once resumed, all of it comes late, in its order. */
  hold(...ways: readonly Way[]): void
  /** What comes is swallowed; a connection that lost bytes is silent for good. */
  drop(): void
  /** Breaks every connection off. */
  reset(): void
  /** Tells the daemon that no answer will follow, and goes on taking what it says. */
  halfClose(): void
  /** From here on all is well again, but for what was broken. */
  resume(): void
  close(): Promise<void>
}

interface Link {
  readonly daemon: Socket
  readonly server: Socket
  isLost: boolean
}

/** @param url of the database: its host, or the folder of its Unix socket as `host` */
export async function startProxy(url: string): Promise<Proxy> {
  const target = targetOf(url)
  const links = new Set<Link>()
  const held = new Set<Way>()
  let delay = 0
  let isDropping = false

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (daemon) => {
    const link = { daemon, server: connect({ ...target, allowHalfOpen: true }), isLost: false }
    links.add(link)
    forward(link, 'out')
    forward(link, 'back')
    for (const side of [link.daemon, link.server]) {
      side.on('error', () => undefined)
      side.once('close', () => {
        // Of a path that is broken neither side hears what became of the other.
        if (held.size === 0 && !isDropping) end(link)
      })
    }
  })

  function forward(link: Link, way: Way): void {
    const [from, to] = endsOf(link, way)
    let free = 0
    const pass = (go: () => void): void => {
      if (isDropping) link.isLost = true
      if (link.isLost) return
      const at = Math.max(performance.now() + delay, free)
      if (at <= performance.now()) return go()
      // What came before is before it on its way too.
      free = at
      setTimeout(go, at - performance.now())
    }
    if (held.has(way)) from.pause()
    from.on('data', (part: Buffer) => {
      pass(() => to.write(part))
    })
    from.once('end', () => {
      pass(() => to.end())
    })
  }

  function end(link: Link): void {
    links.delete(link)
    link.daemon.destroy()
    link.server.destroy()
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const via = new URL(url)
  via.searchParams.delete('host')
  via.host = `127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url: via.href,
    delay(millis) {
      delay = millis
    },
    hold(...ways) {
      for (const way of ways) held.add(way)
      for (const link of links) for (const way of ways) endsOf(link, way)[0].pause()
    },
    drop() {
      isDropping = true
    },
    reset() {
      for (const link of links) {
        link.daemon.resetAndDestroy()
        end(link)
      }
    },
    halfClose() {
      for (const { daemon } of links) daemon.end()
    },
    resume() {
      delay = 0
      isDropping = false
      held.clear()
      for (const link of links) {
        if (link.daemon.destroyed || link.server.destroyed) end(link)
        link.daemon.resume()
        link.server.resume()
      }
    },
    async close() {
      for (const link of links) end(link)
      server.close()
      await once(server, 'close')
    },
  }
}

function endsOf({ daemon, server }: Link, way: Way): readonly [from: Socket, to: Socket] {
  return way === 'out' ? [daemon, server] : [server, daemon]
}

const PORT = 5432

function targetOf(url: string): NetConnectOpts {
  const { hostname, port, searchParams } = new URL(url)
  const folder = searchParams.get('host')
  const number = port === '' ? PORT : Number(port)
  if (folder?.startsWith('/') === true) return { path: `${folder}/.s.PGSQL.${number}` }
  return { host: hostname, port: number }
}

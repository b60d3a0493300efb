import { Resolver } from 'node:dns/promises'
import { Socket } from 'node:net'

/** Of questions to name servers; the hosts file is read for names that the operator lists, and there are none. */
const QUESTIONS = ['resolve4', 'resolve6', 'resolveTxt', 'resolveCname'] as const

/**
 * Keeps this process to its machine, as if it had no network: a question to a name server and a connection
 * to another machine fail at once. The fuzzer makes up hosts for webhooks, which may be somebody's.
 *
 * Loaded into the daemon with `--import`.
 *
 * @module
 */
for (const question of QUESTIONS) {
  Object.assign(Resolver.prototype, {
    [question]: (name: string) => Promise.reject(unreachable(name)),
  })
}

type Connect = (this: Socket, ...args: readonly unknown[]) => Socket
const connect = Socket.prototype.connect as unknown as Connect

const guarded: Connect = function (...args) {
  const host = hostOf(args)
  if (host === undefined || isLoopback(host)) return connect.call(this, ...args)
  return this.destroy(unreachable(host))
}
Socket.prototype.connect = guarded as unknown as typeof Socket.prototype.connect

/** Undefined for a socket in the file system, and for the default, which is this machine. */
function hostOf(args: readonly unknown[]): string | undefined {
  // Node's own callers hand over a list of what they were given.
  const [first, second] = (Array.isArray(args[0]) ? args[0] : args) as readonly unknown[]
  const host: unknown =
    typeof first === 'object' && first !== null ? (first as { host?: unknown }).host : second
  return typeof host === 'string' ? host : undefined
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)
}

function unreachable(host: string): Error {
  return Object.assign(new Error(`${host} is beyond this machine`), { code: 'ENETUNREACH' })
}

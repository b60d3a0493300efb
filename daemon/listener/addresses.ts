import { networkInterfaces } from 'node:os'
import { hostPortOf } from '../http/host-port.ts'
import type { Listener } from './listener.ts'

/** Values of `Host` that the API accepts. */
export function acceptedHosts(baseUrl: string, port: number): ReadonlySet<string> {
  const base = new URL(baseUrl)
  return new Set([base.host, `127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
}

/** Addresses that lead back to the service itself. */
export function ownHostsOf(baseUrl: string, listeners: readonly Listener[]): readonly string[] {
  return [
    // Where clients reach it, also through a proxy: no webhook may lead back to the service.
    hostPortOf(baseUrl),
    ...listeners.flatMap(({ address }) => [printAddress(address), ...ownAddresses(address.port)]),
  ]
}

function ownAddresses(port: number): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => `${printHost(address)}:${port}`),
  )
}

function printHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

export function printAddress({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): string {
  return `${printHost(host)}:${port}`
}

import { inCidr, parseCidr, type Cidr } from './address.ts'
import { judgeLabels } from './name.ts'

/** Targets that the operator permits in addition to public ones. No port means every port. */
export interface AllowList {
  readonly blocks: readonly { readonly cidr: Cidr; readonly port: number | undefined }[]
  /** Lower-case names without a final dot; a name does not include its subdomains. */
  readonly hosts: readonly { readonly host: string; readonly port: number | undefined }[]
}

/**
 * Parses `KEYHOOK_WEBHOOK_ALLOW`: comma-separated blocks, addresses or exact host names, each with an
 * optional `:port`; IPv6 is in brackets when a port follows. The empty text permits nothing.
 *
 * @throws TypeError naming the first invalid element
 * @example
 * parseAllowList('10.0.0.0/8, [fd00::/8]:8443, localhost:9000').hosts
 * // [{ host: 'localhost', port: 9000 }]
 */
export function parseAllowList(text: string): AllowList {
  const blocks: AllowList['blocks'][number][] = []
  const hosts: AllowList['hosts'][number][] = []
  for (const element of text.split(',').map((part) => part.trim())) {
    if (element === '') continue
    const { target, port } = splitPort(element)
    const cidr = parseCidr(target)
    if (cidr) blocks.push({ cidr, port })
    else hosts.push({ host: readHost(target, element), port })
  }
  return { blocks, hosts }
}

interface Element {
  readonly target: string
  readonly port: number | undefined
}

function splitPort(element: string): Element {
  const bracketed = /^\[([0-9a-f:./]+)\](?::(\d+))?$/i.exec(element)
  const inBrackets = bracketed?.[1]
  if (inBrackets !== undefined) {
    if (!inBrackets.includes(':') || !parseCidr(inBrackets)) throw refuse(element)
    return { target: inBrackets, port: readPort(bracketed?.[2], element) }
  }
  if (parseCidr(element)) return { target: element, port: undefined }
  const [target = '', port, ...rest] = element.split(':')
  if (rest.length > 0) throw refuse(element)
  return { target, port: readPort(port, element) }
}

function readPort(text: string | undefined, element: string): number | undefined {
  if (text === undefined) return undefined
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw refuse(element)
  return port
}

function readHost(text: string, element: string): string {
  const host = withoutFinalDot(text.toLowerCase())
  if (judgeLabels(host)) throw refuse(element)
  return host
}

function refuse(element: string): TypeError {
  return new TypeError(
    `"${element}" is neither an address, a block such as 10.0.0.0/8, nor an exact host name, with an optional port`,
  )
}

/** Converts `host.` to `host`, which is the same name. */
export function withoutFinalDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host
}

/** Whether the operator lists this address on this port, as an address or in a block. */
export function listsAddress(list: AllowList, address: string, port: number): boolean {
  return list.blocks.some((entry) => (entry.port ?? port) === port && inCidr(entry.cidr, address))
}

/** Whether the operator lists this exact name on this port. */
export function listsHost(list: AllowList, host: string, port: number): boolean {
  return list.hosts.some((entry) => (entry.port ?? port) === port && entry.host === host)
}

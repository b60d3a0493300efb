import { inCidr, judgeAddress, parseCidr } from './address.ts'
import { withoutFinalDot } from './allow-list.ts'

/**
 * Whether host and port lead to one of our own listeners. An unspecified address, such as 0.0.0.0, listens
 * on every loopback address, and as a target it leads to every listener of its port.
 *
 * @param own listeners, each `host:port` or `[v6]:port`
 *
 * @example
 * isOwnListener('127.0.0.2', 8420, ['0.0.0.0:8420']) // true
 */
export function isOwnListener(host: string, port: number, own: readonly string[]): boolean {
  return own.some((listener) => {
    const colon = listener.lastIndexOf(':')
    if (Number(listener.slice(colon + 1)) !== port) return false
    const ownHost = withoutFinalDot(listener.slice(0, colon).toLowerCase())
    return isSameHost(ownHost.replace(/^\[(.*)\]$/, '$1'), host)
  })
}

function isSameHost(own: string, host: string): boolean {
  const block = parseCidr(own)
  if (!block) return own === host
  if (inCidr(block, host)) return true
  const reach = reachOf(host)
  return reach === 'unspecified' || (reachOf(own) === 'unspecified' && reach === 'loopback')
}

function reachOf(host: string): 'unspecified' | 'loopback' | 'elsewhere' {
  const verdict = judgeAddress(host)
  if (verdict.public) return 'elsewhere'
  if (verdict.reason === 'address_unspecified') return 'unspecified'
  return verdict.reason === 'address_loopback' ? 'loopback' : 'elsewhere'
}

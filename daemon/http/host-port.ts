/**
 * Host and port that an http or https address leads to, IPv6 in brackets.
 *
 * @example
 * hostPortOf('https://shop.example.com/a') // 'shop.example.com:443'
 */
export function hostPortOf(address: string): string {
  const { protocol, hostname, port } = new URL(address)
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

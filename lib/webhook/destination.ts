/** The address of a webhook that sends to a destination which the operator declared. */
export interface NamedDestination {
  /** Type of the destination, such as `rabbitmq`. */
  readonly type: string
  readonly name: string
}

/** Type of a webhook that sends to an https or http address. */
export const HTTPS_TYPE = 'https'

/** A name begins with a letter, so that `localhost:8080` is none. */
const FORM = /^([a-z][a-z0-9-]{0,31}):([a-z][a-z0-9._-]{0,63})$/

/** Schemes of URLs that need no slashes: `https:example.com` is the host. */
const URL_SCHEMES: ReadonlySet<string> = new Set(['http', HTTPS_TYPE])

/**
 * The destination that a webhook's url names; undefined for every other url.
 *
 * @example
 * destinationOf('rabbitmq:orders') // { type: 'rabbitmq', name: 'orders' }
 */
export function destinationOf(url: string): NamedDestination | undefined {
  const [, type, name] = FORM.exec(url) ?? []
  if (type === undefined || name === undefined || URL_SCHEMES.has(type)) return undefined
  return { type, name }
}

/**
 * The type of a webhook: the scheme of a destination, otherwise `https`.
 *
 * @example
 * typeOfUrl('http://127.0.0.1:9000/in') // 'https'
 */
export function typeOfUrl(url: string): string {
  return destinationOf(url)?.type ?? HTTPS_TYPE
}

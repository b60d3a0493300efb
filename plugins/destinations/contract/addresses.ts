/** Destinations of the built-in types, as the operator declares them: `orders=amqp://…,audit=redis://…`. */

/** Who may name a destination. */
export interface Audience {
  readonly name: string
  /** Ids of the accounts that may send there; undefined: all. */
  readonly accounts: ReadonlySet<string> | undefined
}

export interface RabbitMqAddress extends Audience {
  readonly hostname: string
  readonly port: number
  readonly isSecure: boolean
  readonly username: string
  readonly password: string
  readonly vhost: string
  /** Empty for the default exchange, which routes to the queue of the key's name. */
  readonly exchange: string
  /** Undefined: the event type. */
  readonly routingKey: string | undefined
}

export interface RedisAddress extends Audience {
  readonly hostname: string
  readonly port: number
  readonly isSecure: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
  readonly stream: string
  /** Entries that the stream keeps, approximately; undefined: all. */
  readonly maxLength: number | undefined
}

export interface DeclaredDestinations {
  readonly rabbitmq: readonly RabbitMqAddress[]
  readonly redis: readonly RedisAddress[]
}

/** The parts that both kinds of address have. */
interface Parts extends Audience {
  readonly hostname: string
  readonly port: number
  readonly isSecure: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  /** Without its slash. */
  readonly path: string
  readonly options: ReadonlyMap<string, string>
}

interface Scheme {
  readonly type: keyof DeclaredDestinations
  readonly port: number
  readonly isSecure: boolean
}

const SCHEMES: Readonly<Record<string, Scheme>> = {
  'amqp:': { type: 'rabbitmq', port: 5672, isSecure: false },
  'amqps:': { type: 'rabbitmq', port: 5671, isSecure: true },
  'redis:': { type: 'redis', port: 6379, isSecure: false },
  'rediss:': { type: 'redis', port: 6379, isSecure: true },
}

const OPTIONS: Readonly<Record<keyof DeclaredDestinations, readonly string[]>> = {
  rabbitmq: ['queue', 'exchange', 'routing_key', 'accounts'],
  redis: ['stream', 'maxlen', 'accounts'],
}

const EVERY_ACCOUNT = '*'
const NAME = /^[a-z][a-z0-9._-]{0,63}$/
const SHAPE = 'must be <name>=<address>, comma separated, such as orders=amqp://127.0.0.1'

/**
 * Reads the declared destinations. Messages name a destination and never its address, which holds a password.
 *
 * @throws Error that says what the value must be
 */
export function parseDestinations(text: string): DeclaredDestinations {
  const rabbitmq: RabbitMqAddress[] = []
  const redis: RedisAddress[] = []
  for (const element of text.split(/[,\n]/).map((one) => one.trim())) {
    if (element === '') continue
    const { type, parts } = readElement(element)
    const declared: readonly { readonly name: string }[] = type === 'redis' ? redis : rabbitmq
    if (declared.some(({ name }) => name === parts.name)) {
      throw new Error(`must name ${type}:${parts.name} once`)
    }
    if (type === 'redis') redis.push(redisOf(parts))
    else rabbitmq.push(rabbitMqOf(parts))
  }
  return { rabbitmq, redis }
}

function readElement(element: string): { type: Scheme['type']; parts: Parts } {
  const at = element.indexOf('=')
  const name = element.slice(0, Math.max(at, 0))
  if (!NAME.test(name)) throw new Error(`${SHAPE}. A name is a-z, 0-9 and ._- after a letter`)
  const refuse = (why: string): Error => new Error(`names ${name}, whose address ${why}`)
  const address = element.slice(at + 1)
  const url = URL.canParse(address) ? new URL(address) : undefined
  const scheme = SCHEMES[url?.protocol ?? '']
  if (url === undefined || scheme === undefined || url.hostname === '' || url.hash !== '') {
    throw refuse('must begin with amqp://, amqps://, redis:// or rediss://, and have a host')
  }
  const options = new Map(url.searchParams)
  const known = OPTIONS[scheme.type]
  const unknown = [...options.keys()].find((option) => !known.includes(option))
  if (unknown !== undefined) throw refuse(`has an unknown option; known are ${known.join(', ')}`)
  if (options.size < url.searchParams.size) throw refuse('has an option twice')
  const empty = known.find((option) => options.get(option) === '')
  if (empty !== undefined) throw refuse(`has an empty ${empty}`)
  try {
    const parts = {
      name,
      accounts: accountsOf(options.get('accounts')),
      hostname: url.hostname.replaceAll(/^\[|\]$/g, ''),
      port: url.port === '' ? scheme.port : Number(url.port),
      isSecure: scheme.isSecure,
      username: url.username === '' ? undefined : decodeURIComponent(url.username),
      password: url.password === '' ? undefined : decodeURIComponent(url.password),
      path: decodeURIComponent(url.pathname.slice(1)),
      options,
    }
    return { type: scheme.type, parts }
  } catch (cause) {
    throw Object.assign(refuse('has a % that encodes nothing'), { cause })
  }
}

/** Of `a+b`, which a url reads as `a b`. */
function accountsOf(text = EVERY_ACCOUNT): ReadonlySet<string> | undefined {
  return text === EVERY_ACCOUNT ? undefined : new Set(text.split(' ').filter((id) => id !== ''))
}

function rabbitMqOf({ path, options, ...parts }: Parts): RabbitMqAddress {
  const { name, username = 'guest', password = 'guest' } = parts
  const exchange = options.get('exchange')
  const queue = options.get('queue')
  if (exchange !== undefined && queue !== undefined) {
    throw new Error(`names ${name}, whose address has a queue or an exchange, and not both`)
  }
  if (exchange === undefined && options.has('routing_key')) {
    throw new Error(`names ${name}, whose address needs an exchange with its routing_key`)
  }
  if (exchange !== undefined && !options.has('routing_key') && !options.has('accounts')) {
    // Accounts declare types as they like, so that each of them would choose the routing key.
    throw new Error(
      `names ${parts.name}, whose address needs a routing_key with its exchange, or accounts, such as accounts=*`,
    )
  }
  const route =
    exchange === undefined
      ? { exchange: '', routingKey: queue ?? name }
      : { exchange, routingKey: options.get('routing_key') }
  const vhost = path === '' ? '/' : path
  return { ...parts, username, password, vhost, ...route }
}

function redisOf({ path, options, ...parts }: Parts): RedisAddress {
  const { name } = parts
  const most = options.get('maxlen')
  if (most !== undefined && !/^[1-9]\d{0,11}$/.test(most)) {
    throw new Error(`names ${name}, whose maxlen must be a whole number`)
  }
  if (!/^\d{0,5}$/.test(path)) throw new Error(`names ${name}, whose database must be a number`)
  return {
    ...parts,
    database: Number(path),
    stream: options.get('stream') ?? name,
    maxLength: most === undefined ? undefined : Number(most),
  }
}

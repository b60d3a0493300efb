/**
 * Argument validation of exported functions, for callers without a type checker. An unknown argument is
 * an error: ignoring a misspelt option could remove a restriction.
 *
 * @module
 */

/** The allowed values of one argument, option or element. */
export interface Kind {
  /** Noun phrase for messages, such as `a string`. */
  readonly allowed: string
  accepts(value: unknown): boolean
  /** May be missing or undefined. */
  readonly optional?: true
  /** May be missing, but not given as undefined: a misspelt source would otherwise remove a requirement. */
  readonly missing?: true
  /** Options by name: own properties of a plain object, each read once. */
  readonly options?: Kinds
  /** The kind of each element of a list. */
  readonly each?: Kind
}

export type Kinds = Readonly<Record<string, Kind>>

/** Checks the arguments of one call and returns them, with options copied. */
export type ReadArguments = (given: ArrayLike<unknown>) => readonly unknown[]

/**
 * Declares the arguments of a function, in their order.
 *
 * The returned function throws a TypeError for a wrong or missing argument, an unknown option, and too
 * many arguments. The message names the function, the argument and the allowed values.
 *
 * @example
 * const readArguments = declareArguments('isToken', { prefix: TEXT, value: TEXT })
 * readArguments(['service_dk_', 5]) // throws TypeError: isToken: value must be a string, not a number
 */
export function declareArguments(callee: string, kinds: Kinds): ReadArguments {
  const declared = Object.entries(kinds)
  return (given) => {
    if (given.length > declared.length) throw tooMany(callee, declared, given.length)
    return declared.map(([name, kind], index) => readOne(callee, name, kind, given[index]))
  }
}

/**
 * Wraps a function so that it checks its arguments before it runs.
 *
 * @example
 * const isToken = checked('isToken', { prefix: TEXT, value: TEXT }, token.isToken)
 */
export function checked<Call extends (...given: never[]) => unknown>(
  callee: string,
  kinds: Kinds,
  call: Call,
): Call {
  const readArguments = declareArguments(callee, kinds)
  const run = call as unknown as (...given: readonly unknown[]) => unknown
  const guarded = (...given: readonly unknown[]): unknown => run(...readArguments(given))
  return Object.defineProperty(guarded, 'name', { value: callee }) as unknown as Call
}

/** As `checked`, for a function that returns a promise: a wrong argument rejects it. */
export function checkedAsync<Call extends (...given: never[]) => Promise<unknown>>(
  callee: string,
  kinds: Kinds,
  call: Call,
): Call {
  const run = checked(callee, kinds, call) as unknown as (...given: readonly unknown[]) => unknown
  const guarded = async (...given: readonly unknown[]): Promise<unknown> => run(...given)
  return Object.defineProperty(guarded, 'name', { value: callee }) as unknown as Call
}

/** Wraps an object so that the named methods check their arguments. */
export function checkedMethods<Made extends object>(
  owner: string,
  made: Made,
  methods: { readonly [Name in keyof Made]?: Kinds },
): Made {
  const entries = Object.entries(methods as Readonly<Record<string, Kinds>>)
  const guarded = entries.map(([name, kinds]) => {
    const call = made[name as keyof Made] as (...given: never[]) => unknown
    return [name, checked(`${owner}.${name}`, kinds, call)]
  })
  return { ...made, ...(Object.fromEntries(guarded) as Partial<Made>) }
}

/**
 * Reads options by name: own properties only, each read once. An unknown name is an error.
 *
 * @param name of the argument, for messages
 */
export function readOptions(
  callee: string,
  name: string,
  kinds: Kinds,
  given: unknown,
): Readonly<Record<string, unknown>> {
  if (!isPlainObject(given)) throw wrong(callee, name, 'a plain object', given)
  for (const key of Reflect.ownKeys(given)) {
    if (typeof key === 'symbol' || !Object.hasOwn(kinds, key)) {
      throw new TypeError(
        `${callee}: unknown name ${String(key)} in ${name}; allowed: ${Object.keys(kinds).join(', ')}`,
      )
    }
  }
  const options: Record<string, unknown> = {}
  // Hot path of every verification: no list of entries, and no names built unless something is wrong.
  for (const key in kinds) {
    const kind = kinds[key]
    if (kind === undefined || !Object.hasOwn(kinds, key)) continue
    const isGiven = Object.hasOwn(given, key)
    if (!isGiven && (kind.missing === true || kind.optional === true)) continue
    const value = isGiven ? given[key] : undefined
    const isPlainValue = kind.options === undefined && kind.accepts(value)
    const read = isPlainValue ? value : readOne(callee, `${name}.${key}`, kind, value)
    if (read !== undefined) options[key] = read
  }
  return options
}

function readOne(callee: string, name: string, kind: Kind, value: unknown): unknown {
  if (value === undefined && kind.optional === true) return undefined
  if (kind.options !== undefined) return readOptions(callee, name, kind.options, value)
  if (!kind.accepts(value)) throw wrongOne(callee, name, kind, value)
  return value
}

/** The first wrong element of a list, by its index, or the whole value. */
function wrongOne(callee: string, name: string, kind: Kind, value: unknown): TypeError {
  const { each } = kind
  if (each === undefined || !Array.isArray(value) || value.length === 0) {
    return wrong(callee, name, kind.allowed, value)
  }
  const index = Array.from(value).findIndex((one) => !each.accepts(one))
  return wrong(callee, `${name}[${index}]`, each.allowed, value[index])
}

function tooMany(callee: string, declared: readonly (readonly [string, Kind])[], given: number) {
  const names = declared.map(([name]) => name).join(', ')
  const allowed = declared.length === 0 ? 'no arguments' : `(${names})`
  return new TypeError(`${callee}: takes ${allowed}, got ${given} arguments`)
}

/** The error of one argument. It never repeats the value, which may be a secret. */
export function wrong(callee: string, name: string, allowed: string, value: unknown): TypeError {
  return new TypeError(`${callee}: ${name} must be ${allowed}, not ${typeName(value)}`)
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'this list'
  if (typeof value === 'object') return 'this object'
  return typeof value === 'string' && value !== '' ? 'this string' : (NAMES[typeof value] ?? 'this')
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'an empty string',
  number: 'this number',
  bigint: 'a bigint',
  boolean: 'a boolean',
  symbol: 'a symbol',
  function: 'a function',
}

/** Whether a value is a plain object, of any realm: properties of a class may not be the caller's. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  if (typeof prototype !== 'object') return false
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')
}

/** Whether a value is an object, except a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const ANY: Kind = { allowed: 'any value', accepts: () => true }
export const TEXT: Kind = { allowed: 'a string', accepts: (value) => typeof value === 'string' }
export const NAME: Kind = {
  allowed: 'a non-empty string',
  accepts: (value) => typeof value === 'string' && value !== '',
}
export const BOOLEAN: Kind = {
  allowed: 'true or false',
  accepts: (value) => typeof value === 'boolean',
}
export const COUNT: Kind = {
  allowed: 'a whole number, 0 or more',
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
}
export const POSITIVE: Kind = {
  allowed: 'a whole number, 1 or more',
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
}
export const OBJECT: Kind = { allowed: 'an object', accepts: isObject }
export const FUNCTION: Kind = {
  allowed: 'a function',
  accepts: (value) => typeof value === 'function',
}
export const BYTES: Kind = {
  allowed: 'a Uint8Array',
  accepts: (value) => ArrayBuffer.isView(value) && tagOf(value) === '[object Uint8Array]',
}
export const MAP: Kind = { allowed: 'a Map', accepts: (value) => tagOf(value) === '[object Map]' }
export const SET: Kind = { allowed: 'a Set', accepts: (value) => tagOf(value) === '[object Set]' }

/** By its tag: test runners and frames pass values of another realm. */
function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value)
}

export function optional(kind: Kind): Kind {
  return { ...kind, optional: true }
}

export function nullable(kind: Kind): Kind {
  return {
    allowed: `${kind.allowed} or null`,
    accepts: (value) => value === null || kind.accepts(value),
  }
}

export function either(...kinds: readonly Kind[]): Kind {
  return {
    allowed: kinds.map(({ allowed }) => allowed).join(' or '),
    accepts: (value) => kinds.some((kind) => kind.accepts(value)),
  }
}

export function oneOf(...values: readonly unknown[]): Kind {
  return { allowed: values.join(', '), accepts: (value) => values.includes(value) }
}

/** A list of at least one element: an empty one must not mean "no restriction". */
export function listOf(kind: Kind): Kind {
  return {
    allowed: `a non-empty list, each ${kind.allowed}`,
    accepts: (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      Array.from(value).every((one) => kind.accepts(one)),
    each: kind,
  }
}

/** A list that may be empty. */
export function anyListOf(kind: Kind): Kind {
  return {
    allowed: `a list, each ${kind.allowed}`,
    accepts: (value) => Array.isArray(value) && Array.from(value).every((one) => kind.accepts(one)),
    each: kind,
  }
}

/** An object with at least these properties. */
export function recordOf(kinds: Kinds): Kind {
  const names = Object.entries(kinds).map(([name, { allowed }]) => `${name}: ${allowed}`)
  return {
    allowed: `an object { ${names.join('; ')} }`,
    accepts: (value) => isObject(value) && hasAll(value, kinds),
  }
}

function hasAll(value: Readonly<Record<string, unknown>>, kinds: Kinds): boolean {
  return Object.entries(kinds).every(([name, kind]) => {
    const one = value[name]
    return one === undefined && kind.optional === true ? true : kind.accepts(one)
  })
}

/** A plain object with any names, whose values are of one kind. */
export function mapOf(kind: Kind): Kind {
  return {
    allowed: `an object whose values are each ${kind.allowed}`,
    accepts: (value) =>
      isPlainObject(value) && Object.values(value).every((one) => kind.accepts(one)),
  }
}

/** A port: an object with these methods. */
export function portOf(...methods: readonly string[]): Kind {
  const kind = recordOf(Object.fromEntries(methods.map((name) => [name, FUNCTION])))
  return { ...kind, allowed: `an object with the methods ${methods.join(', ')}` }
}

/** Options by name. The whole is optional when every option is. */
export function optionsOf(options: Kinds): Kind {
  const kind = { allowed: 'a plain object', accepts: isPlainObject, options }
  const mayMiss = Object.values(options).every(
    (one) => one.optional === true || one.missing === true,
  )
  return mayMiss ? { ...kind, optional: true } : kind
}

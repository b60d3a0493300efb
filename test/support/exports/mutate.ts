/**
 * Wrong calls, derived from a right one: each argument, option and element missing, misspelt, empty, of
 * another type, or one too many.
 *
 * @module
 */

/** A right call of an export, and how its arguments may differ. */
export interface Declared {
  readonly args: readonly unknown[]
  /** Called with `new`. */
  readonly construct?: true
  /** Codes of the errors that its documentation names, beside TypeError. */
  readonly codes?: readonly string[]
  /** Paths that may be missing or undefined, such as `1` or `0.timeout`. */
  readonly optional?: readonly string[]
  /** Paths that may be missing, yet not undefined. */
  readonly missing?: readonly string[]
  /** Further types of a path, such as `{ '0.expires_at': ['null'] }`; `any` is every type. */
  readonly also?: Readonly<Record<string, readonly TypeName[]>>
  /** Objects that may have more properties than are known: records, which other code makes. */
  readonly records?: readonly string[]
  /** Objects whose names are the caller's to choose. */
  readonly maps?: readonly string[]
  /** Ports and foreign objects, which are not looked into. */
  readonly opaque?: readonly string[]
  /** Lists that may be empty. */
  readonly empty?: readonly string[]
}

export type TypeName =
  | 'any'
  | 'boolean'
  | 'function'
  | 'list'
  | 'null'
  | 'number'
  | 'object'
  | 'string'
  | 'symbol'
  | 'undefined'

export interface WrongCall {
  /** What is wrong, for the report. */
  readonly what: string
  readonly args: readonly unknown[]
}

const WRONG: Readonly<Record<Exclude<TypeName, 'any'>, unknown>> = {
  boolean: true,
  function: () => undefined,
  list: ['unexpected'],
  null: null,
  number: 4.5,
  object: { unexpected: 1 },
  string: 'unexpected',
  symbol: Symbol('unexpected'),
  undefined: undefined,
}

export function typeOf(value: unknown): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  const type = typeof value
  return type === 'bigint' ? 'number' : type
}

/** Every wrong call of an export. */
export function wrongCalls(declared: Declared): readonly WrongCall[] {
  const { args } = declared
  const calls: WrongCall[] = [{ what: 'one argument too many', args: [...args, { unexpected: 1 }] }]
  for (const [index, value] of args.entries()) {
    const path = String(index)
    if (!isOptional(declared, path)) {
      calls.push({ what: `without ${path} and what follows`, args: args.slice(0, index) })
    }
    for (const [what, wrong] of wrongValues(declared, path, value)) {
      calls.push({ what, args: args.with(index, wrong) })
    }
  }
  return calls
}

function isOptional({ optional = [], also = {} }: Declared, path: string): boolean {
  return optional.includes(path) || (also[path]?.includes('any') ?? false)
}

function* wrongValues(
  declared: Declared,
  path: string,
  value: unknown,
): Generator<readonly [what: string, value: unknown]> {
  const allowed = new Set([typeOf(value), ...(declared.also?.[path] ?? [])])
  if (allowed.has('any')) return
  if (isOptional(declared, path)) allowed.add('undefined')
  for (const [type, wrong] of Object.entries(WRONG)) {
    if (!allowed.has(type as TypeName)) yield [`${path} is ${type}`, wrong]
  }
  if (declared.opaque?.includes(path)) return
  if (typeof value === 'number') yield [`${path} is NaN`, Number.NaN]
  if (Array.isArray(value)) yield* wrongLists(declared, path, value)
  else if (isPlain(value)) yield* wrongObjects(declared, path, value)
}

function* wrongLists(declared: Declared, path: string, value: readonly unknown[]) {
  if (declared.empty?.includes(path) !== true) yield [`${path} is empty`, []] as const
  for (const [what, wrong] of wrongValues(declared, `${path}.0`, value[0])) {
    yield [what, [wrong, ...value.slice(1)]] as const
  }
}

function* wrongObjects(declared: Declared, path: string, value: Readonly<Record<string, unknown>>) {
  const isMap = declared.maps?.includes(path) === true
  const isStrict = !isMap && declared.records?.includes(path) !== true
  if (isStrict) {
    yield [`${path} has an unknown name`, { ...value, unexpected: 1 }] as const
    yield [`${path} has a symbol`, { ...value, [Symbol('unexpected')]: 1 }] as const
    yield [`${path} is inherited`, Object.create(value) as unknown] as const
  }
  for (const [name, one] of Object.entries(value)) {
    const inner = `${path}.${name}`
    const { [name]: _, ...rest } = value
    if (!isMap) {
      const misspelt = { ...rest, [`${name}x`]: one }
      if (isStrict || !isOptional(declared, inner))
        yield [`${inner} is misspelt`, misspelt] as const
      const mayMiss = isOptional(declared, inner) || declared.missing?.includes(inner) === true
      if (!mayMiss) yield [`${inner} is missing`, rest] as const
    }
    for (const [what, wrong] of wrongValues(declared, inner, one)) {
      yield [what, { ...value, [name]: wrong }] as const
    }
  }
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  )
}

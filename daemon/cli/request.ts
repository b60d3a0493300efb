import { basename, isAbsolute, relative, sep } from 'node:path'
import { InvalidArgumentError } from 'commander'
import type { Instant, Millis } from '../../lib/time.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../lib/time.ts'
import type { CommandSpec, Field, FieldKind } from '../operations/command.ts'

/** Request of a command. */
export interface CommandRequest {
  readonly method: string
  /** Path with its query. */
  readonly path: string
  /** JSON text; undefined: none. */
  readonly body: string | undefined
  /** Parts of a multipart body, instead of `body`. */
  readonly parts?: readonly SentPart[]
}

/** A part of a multipart body: a text, or the file at a path. */
export type SentPart = { readonly name: string } & (
  | { readonly text: string }
  // Default file name: that of the file.
  | { readonly path: string; readonly filename?: string }
)

/**
 * Parses the text of a field.
 *
 * @param before value of an earlier use of the option; lists append to it
 * @throws InvalidArgumentError that says what the text must be
 */
export function readValue(field: Field, text: string, before?: unknown): unknown {
  if (field.nullable === true && text === 'null') return null
  if (text === '' && field.location === 'path') throw new InvalidArgumentError('Must not be empty.')
  if (field.choices !== undefined && !field.choices.includes(text)) {
    throw new InvalidArgumentError(`Must be one of ${field.choices.join(', ')}.`)
  }
  const value = READERS[field.kind](text)
  return Array.isArray(before) && Array.isArray(value) && field.kind !== 'json'
    ? [...(before as unknown[]), ...(value as unknown[])]
    : value
}

const READERS: Readonly<Record<FieldKind, (text: string) => unknown>> = {
  text: (text) => text,
  time: (text) => readPast(text, Date.now()),
  expiry: (text) => readExpiry(text, Date.now()),
  secret: (text) => text,
  files: (text) => [text],
  flag: (text) => text === 'true',
  integer: (text) => readNumber(text, Number.isSafeInteger, 'Must be a whole number.'),
  number: (text) => readNumber(text, Number.isFinite, 'Must be a number.'),
  list: (text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  json: readJson,
}

/** Milliseconds per unit of a duration. */
const UNITS: Readonly<Record<string, Millis>> = {
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
  w: 7 * DAY,
}

/**
 * Parses an expiry: a duration from now, or an instant.
 *
 * @throws InvalidArgumentError for any other text, and for an instant in the past
 */
export function readExpiry(text: string, now: Instant): string {
  const duration = readDuration(text)
  const at = duration === undefined ? readInstant(text) : now + duration
  if (at <= now) throw new InvalidArgumentError(`Must be in the future, and ${text} is not.`)
  return duration === undefined ? text : new Date(at).toISOString()
}

/**
 * Parses an instant, or a duration before now.
 *
 * @throws InvalidArgumentError for any other text
 */
function readPast(text: string, now: Instant): string {
  const duration = readDuration(text)
  if (duration !== undefined) return new Date(now - duration).toISOString()
  readInstant(text)
  return text
}

function readDuration(text: string): Millis | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? Number.NaN)
}

function readInstant(text: string): Instant {
  const at = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(at)) return at
  throw new InvalidArgumentError(
    'Must be a duration such as 12h, 30d or 2w, or an instant such as 2030-01-31T12:00:00Z.',
  )
}

function readNumber(text: string, fits: (value: number) => boolean, refusal: string): number {
  const value = Number(text)
  if (text.trim() !== '' && fits(value)) return value
  throw new InvalidArgumentError(refusal)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('Must be JSON.')
  }
}

/** Builds the request from the values of the fields; fields without a value are left out. */
export function toRequest(spec: CommandSpec, values: ReadonlyMap<Field, unknown>): CommandRequest {
  const given = [...spec.positionals, ...spec.options].filter(
    (field) => values.get(field) !== undefined,
  )
  const at = (location: Field['location']): readonly (readonly [string, unknown])[] =>
    given
      .filter((field) => field.location === location)
      .map((field) => [field.name, values.get(field)])
  const params = Object.fromEntries(at('path'))
  const query = new URLSearchParams(
    Object.fromEntries(at('query').map(([name, value]) => [name, String(value)])),
  ).toString()
  return {
    method: spec.method,
    path:
      spec.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(String(params[name])),
      ) + (query === '' ? '' : `?${query}`),
    ...bodiesOf(spec, at('body'), at('part')),
  }
}

type Values = readonly (readonly [string, unknown])[]

/** Fields given as files are sent as a form, together with all other fields. */
function bodiesOf(
  { isForm, body: needed, parts }: CommandSpec,
  inBody: Values,
  inParts: Values,
): Pick<CommandRequest, 'body' | 'parts'> {
  if (isForm === true && inParts.length > 0) {
    const files = inParts.flatMap(([name, paths]) =>
      (paths as readonly string[]).map((path) => ({ name, path, filename: pathInside(path) })),
    )
    return { body: undefined, parts: [...inBody.map(toText), ...files] }
  }
  const body = bodyOf(needed, Object.fromEntries(inBody))
  return { body, ...(parts === undefined ? {} : { parts: inParts.flatMap(toParts) }) }
}

/** Path of a file relative to the folder that it is sent from; the name of a file from elsewhere. */
function pathInside(path: string): string {
  const inside = relative('', path)
  const isBelow = !isAbsolute(inside) && inside !== '..' && !inside.startsWith(`..${sep}`)
  return isBelow ? inside.replaceAll(sep, '/') : basename(path)
}

function toText([name, value]: Values[number]): SentPart {
  return { name, text: typeof value === 'string' ? value : JSON.stringify(value) }
}

function toParts([name, value]: Values[number]): readonly SentPart[] {
  if (typeof value === 'string') return [{ name, text: value }]
  return (value as readonly string[]).map((path) => ({ name, path }))
}

/** An optional body is left out when none of its fields is given. */
function bodyOf(
  needed: CommandSpec['body'],
  fields: Readonly<Record<string, unknown>>,
): string | undefined {
  if (needed === undefined) return undefined
  const empty = Object.keys(fields).length === 0
  return empty && needed === 'optional' ? undefined : JSON.stringify(fields)
}

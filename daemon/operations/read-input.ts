import { z } from 'zod'
import type { FieldError } from '../../lib/errors.ts'
import { INPUT_PARSING, refusedNames, toFaults } from './faults.ts'

/** One more than an error lists, which shows that there are more. */
const MAX_FAULTS = 51

/** A parsed value, or its faults. */
export type ReadInput<Schema extends z.ZodType> =
  | { readonly value: z.output<Schema>; readonly faults?: undefined }
  | { readonly value?: undefined; readonly faults: readonly FieldError[] }

/** Parses input by a schema. Input far beyond the schema's limits is refused before it is parsed. */
export function createInputReader<Schema extends z.ZodType>(
  schema: Schema,
): (value: unknown, location: string) => ReadInput<Schema> {
  const bounds = boundsOf(schema)
  return (value, location) => {
    const excess = bounds(value)
    if (excess.length > 0) {
      return { faults: excess.map((one) => ({ ...one, location: location + one.location })) }
    }
    const result = schema.safeParse(value)
    if (result.success) return { value: result.data }
    // With options zod 4.6 takes 1.2 us for an event in place of 0.15: only faults need them.
    const explained = schema.safeParse(value, INPUT_PARSING)
    if (explained.success) return { value: explained.data }
    return { faults: firstFaults(explained.error.issues, location) }
  }
}

function firstFaults(issues: readonly z.core.$ZodIssue[], location: string): readonly FieldError[] {
  const faults: FieldError[] = []
  for (const issue of issues) {
    for (const fault of toFaults(issue, location)) faults.push(fault)
    if (faults.length >= MAX_FAULTS) break
  }
  return faults
}

/**
 * Finds parts far beyond the limits of a schema: lists, objects and texts beyond their maximum, and more
 * unknown names than an error lists.
 *
 * A parse by the schema reads everything and collects every issue, however many there are. A value that
 * passes here has no more parts than the schema allows, so that parsing it is cheap. Locations are relative
 * to the value, and built only for faults.
 */
type Bounds = (value: unknown) => readonly FieldError[]

/** Normalization may shorten a text before the schema counts its characters. */
const TEXT_FACTOR = 4

const NONE: readonly FieldError[] = []
const anything: Bounds = () => NONE

/** The bounds of a schema, computed once. */
function boundsOf(schema: z.core.$ZodType): Bounds {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'string') return boundedText(maximumOf(schema))
  if (def.type === 'array') return boundedList(maximumOf(schema), boundsOf(def.element))
  if (def.type === 'object') return boundedObject(def.shape)
  if (def.type === 'record') return boundedRecord(maximumOf(schema), boundsOf(def.valueType))
  if (def.type === 'union') return boundedUnion(def.options.map(boundsOf))
  if (def.type === 'optional' || def.type === 'nullable') return boundsOf(def.innerType)
  return def.type === 'pipe' ? boundsOf(def.in) : anything
}

/** Maximum elements, members or characters that a schema declares. */
function maximumOf(schema: z.core.$ZodType): number {
  const { maxLength, maxProperties } = z.globalRegistry.get(schema) ?? {}
  const checks = (schema._zod.def.checks ?? []).map((check) => check._zod.def)
  const checked = checks.filter(isMaximum).map(({ maximum }) => maximum)
  const declared = [maxLength, maxProperties].filter((one) => typeof one === 'number')
  return Math.min(Infinity, ...checked, ...declared)
}

function isMaximum(def: z.core.$ZodCheckDef): def is z.core.$ZodCheckMaxLengthDef {
  return def.check === 'max_length'
}

function boundedText(maximum: number): Bounds {
  return (value) =>
    typeof value === 'string' && value.length > maximum * TEXT_FACTOR
      ? [tooBig(`At most ${maximum} characters.`)]
      : NONE
}

function boundedList(maximum: number, element: Bounds): Bounds {
  return (value) => {
    if (!Array.isArray(value)) return NONE
    if (value.length > maximum) return [tooBig(`At most ${maximum} elements.`)]
    return element === anything ? NONE : faultsOfEach(value.entries(), () => element)
  }
}

function boundedRecord(maximum: number, member: Bounds): Bounds {
  return (value) => {
    if (!isObject(value)) return NONE
    const entries = Object.entries(value)
    if (entries.length > maximum) return [tooBig(`At most ${maximum} names.`)]
    return faultsOfEach(entries, () => member)
  }
}

function boundedObject(shape: z.core.$ZodShape): Bounds {
  const members = new Map(Object.entries(shape).map(([name, schema]) => [name, boundsOf(schema)]))
  return (value) => {
    if (!isObject(value)) return NONE
    const names = Object.keys(value)
    if (names.length > members.size) {
      const unknown = names.filter((name) => !members.has(name)).slice(0, MAX_FAULTS)
      if (unknown.length === MAX_FAULTS) return refusedNames('', unknown, [...members.keys()])
    }
    const known = [...members.keys()].map((name) => [name, value[name]] as const)
    return faultsOfEach(known, (name) => members.get(name) ?? anything)
  }
}

/** Accepts what any of the forms accepts; otherwise returns the fewest faults of a form. */
function boundedUnion(options: readonly Bounds[]): Bounds {
  return (value) => {
    let least: readonly FieldError[] | undefined
    for (const option of options) {
      const found = option(value)
      if (found.length === 0) return NONE
      if (least === undefined || found.length < least.length) least = found
    }
    return least ?? NONE
  }
}

function faultsOfEach<Step extends string | number>(
  entries: Iterable<readonly [Step, unknown]>,
  boundsAt: (step: Step) => Bounds,
): readonly FieldError[] {
  const faults: FieldError[] = []
  for (const [step, value] of entries) {
    const found = boundsAt(step)(value)
    if (found.length === 0) continue
    const at = typeof step === 'number' ? `[${step}]` : `.${step}`
    for (const fault of found) faults.push({ ...fault, location: at + fault.location })
    if (faults.length >= MAX_FAULTS) break
  }
  return faults
}

function tooBig(message: string): FieldError {
  return { location: '', code: 'too_big', message }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import { z } from 'zod'
import type { FieldError } from '../../lib/errors.ts'
import { cutText } from '../../lib/internal/text.ts'

/** Maximum names listed in a message; the rest is cut off. */
const MAX_NAMES_LISTED = 40

/** Options of every parse of input: the message for an unknown name lists the allowed names. */
export const INPUT_PARSING = { error: describeUnknown, reportInput: true }

function describeUnknown(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'unrecognized_keys' || !(issue.inst instanceof z.ZodObject)) return undefined
  return listAllowed(Object.keys(issue.inst.shape))
}

function listAllowed(names: readonly string[]): string {
  if (names.length === 0) return 'No name is allowed here.'
  const more = names.length > MAX_NAMES_LISTED ? ', …' : ''
  return `Unknown name. Allowed: ${names.slice(0, MAX_NAMES_LISTED).join(', ')}${more}.`
}

/** Fault codes without a name in the schema language. */
type FaultCode =
  | 'invalid_type'
  | 'invalid_format'
  | 'invalid_url'
  | 'too_small'
  | 'too_big'
  | 'duplicate'
  | 'exactly_one'
  | 'conflicting_fields'
  | 'empty_span'

/**
 * Parameters of a custom check that refuses.
 *
 * @example
 * z.array(z.string()).refine(isEachOnce, fault('duplicate', 'Must not contain duplicates.'))
 */
export function fault(
  code: FaultCode,
  message: string,
): { readonly message: string; readonly params: { readonly code: FaultCode } } {
  return { message, params: { code } }
}

/** Converts an issue of a schema to faults: where, and what is wrong there. */
export function toFaults(issue: z.core.$ZodIssue, location: string): readonly FieldError[] {
  const at = location + issue.path.map(printStep).join('')
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => refusedName(at, key, issue.message))
  if (issue.input === undefined && issue.path.length > 0) return [missing(issue, at)]
  if (issue.code === 'invalid_union') return closestBranch(issue, at)
  return [{ location: at, code: codeOf(issue), message: issue.message }]
}

/** JSON has no undefined: an undefined field was not given. */
function missing(issue: z.core.$ZodIssue, location: string): FieldError {
  const expected = issue.code === 'invalid_type' ? ` (${issue.expected})` : ''
  const message = issue.code === 'custom' ? issue.message : `This field is required${expected}.`
  return { location, code: 'missing_field', message }
}

function codeOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'custom') return issue.code
  const { code } = issue.params ?? {}
  return typeof code === 'string' ? code : 'invalid_value'
}

/**
 * Of several allowed forms, chooses the one with the fewest faults. An object without a name of any form is
 * judged by the first, usual one.
 */
function closestBranch(
  issue: z.core.$ZodIssueInvalidUnion,
  location: string,
): readonly FieldError[] {
  const branches = issue.errors.map((issues) => issues.flatMap((one) => toFaults(one, location)))
  const [first] = branches
  if (first !== undefined && isObject(issue.input) && !issue.errors.some(knows(issue.input))) {
    return first
  }
  const [closest] = branches.sort((a, b) => a.length - b.length)
  return closest ?? [{ location, code: issue.code, message: issue.message }]
}

/** Whether a form that refused an object has one of its names. */
function knows(input: object): (issues: readonly z.core.$ZodIssue[]) => boolean {
  const given = Object.keys(input).length
  return (issues) => {
    const unknown = issues.flatMap((one) =>
      one.code === 'unrecognized_keys' && one.path.length === 0 ? one.keys : [],
    )
    return unknown.length < given
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param allowed names allowed at the location */
export function refusedNames(
  location: string,
  names: readonly string[],
  allowed: readonly string[],
): readonly FieldError[] {
  const message = listAllowed(allowed)
  return names.map((name) => refusedName(location, name, message))
}

/** @param allowed names allowed at the location */
export function unknownField(
  location: string,
  name: string,
  allowed: readonly string[],
): FieldError {
  return refusedName(location, name, listAllowed(allowed))
}

function refusedName(location: string, name: string, message: string): FieldError {
  return { location: `${location}.${cutText(name, 64)}`, code: 'unknown_field', message }
}

function printStep(step: PropertyKey): string {
  return typeof step === 'number' ? `[${step}]` : `.${String(step)}`
}

/** Members that a form of an object has, and those that it does not have. */
export interface ObjectForm {
  readonly required: readonly string[]
  readonly without: readonly string[]
}

/**
 * Constraint of an object to one of several forms, as JSON Schema expresses it.
 *
 * Below two negations, since generators of clients skip `not`; of `oneOf` beside `properties` they make types that have
 * none of the properties.
 */
export function oneOfForms(...forms: readonly ObjectForm[]): { readonly not: object } {
  const has = (names: readonly string[]): object => ({
    properties: Object.fromEntries(names.map((name) => [name, {}])),
    required: names,
  })
  const anyOf = forms.map(({ required, without }) => ({
    ...has(required),
    not: without.length === 1 ? has(without) : { anyOf: without.map((name) => has([name])) },
  }))
  return { not: { not: { anyOf } } }
}

/** Constraint of an object to exactly one of two members. */
export function exactlyOne(one: string, other: string): { readonly not: object } {
  return oneOfForms({ required: [one], without: [other] }, { required: [other], without: [one] })
}

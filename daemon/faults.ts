import type { z } from 'zod'
import type { FieldError } from '../lib/errors.ts'

/** What one issue of a schema says to the caller: where, and what is wrong there. */
export function toFaults(issue: z.core.$ZodIssue, place: string): readonly FieldError[] {
  const at = place + issue.path.map(printStep).join('')
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField(at, key))
  if (issue.code === 'invalid_union') return closestBranch(issue, at)
  return [{ location: at, code: issue.code, message: issue.message }]
}

/** Of several forms that a value may have, the one it misses by least is the one it was meant to be. */
function closestBranch(issue: z.core.$ZodIssueInvalidUnion, place: string): readonly FieldError[] {
  const branches = issue.errors.map((issues) => issues.flatMap((one) => toFaults(one, place)))
  const [closest] = branches.sort((a, b) => a.length - b.length)
  return closest ?? [{ location: place, code: issue.code, message: issue.message }]
}

export function unknownField(place: string, name: string): FieldError {
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name
  return {
    location: `${place}.${shown}`,
    code: 'unknown_field',
    message: 'There is no such field.',
  }
}

function printStep(step: PropertyKey): string {
  return typeof step === 'number' ? `[${step}]` : `.${String(step)}`
}

import { invalid } from './refusal.ts'

export type FormValue = string | FormValue[] | { [name: string]: FormValue }

/**
 * Reads a form or a query with names such as `line_items[0][price]`. A container whose names are all numbers
 * is a list.
 *
 * @throws Refusal for a name that stands twice
 */
export function readForm(text: string): Record<string, FormValue> {
  const form: Record<string, FormValue> = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const [first = '', ...rest] = name
      .split(/\]?\[|\]$/)
      .filter((part, at) => at === 0 || part !== '')
    put(form, [first, ...rest], value, name)
  }
  return Object.fromEntries(Object.entries(form).map(([name, value]) => [name, withLists(value)]))
}

function put(
  into: Record<string, FormValue>,
  [name = '', ...rest]: readonly string[],
  value: string,
  whole: string,
): void {
  const known = Object.hasOwn(into, name) ? into[name] : undefined
  if (rest.length === 0) {
    if (known !== undefined) throw invalid(`Duplicate parameter: ${whole}`, { param: whole })
    into[name] = value
    return
  }
  const inner = known ?? {}
  if (typeof inner === 'string' || Array.isArray(inner)) {
    throw invalid(`Invalid object: ${whole}`, { param: whole })
  }
  into[name] = inner
  put(inner, rest, value, whole)
}

function withLists(value: FormValue): FormValue {
  if (typeof value === 'string' || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([name, one]) => [name, withLists(one)] as const)
  const isList = entries.length > 0 && entries.every(([name], at) => name === String(at))
  return isList ? entries.map(([, one]) => one) : Object.fromEntries(entries)
}

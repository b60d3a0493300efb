import type { DeliveryStatus } from '../../lib/delivery/state.ts'
import { isFinal } from '../../lib/delivery/state.ts'
import { cutText } from '../../lib/internal/text.ts'
import { toIso } from '../../lib/time.ts'

/** A JSON object as received. */
export type Wire = Readonly<Record<string, unknown>>

/** Columns of a list that are shown when its records have them. */
const LIST_COLUMNS = [
  'id',
  'at',
  'actor',
  'action',
  'target',
  'protocol',
  'client',
  'name',
  'scopes',
  'apps',
  'url',
  'events',
  'type',
  'event_type',
  'status',
  'attempt_count',
  'last_result',
  'next_attempt_at',
  'finished_at',
  'plan',
  'key_limit',
  'suspended_at',
  'sealed',
  'remembered_until',
  'expires_at',
  'built_in',
  'created_at',
  'text',
  'what',
  'amount',
  'balance_after_micros',
  'group',
  'count',
  'quantity',
  'charged',
  'limit',
  'used',
  'remaining',
  'resets_at',
  'set_by',
  'source_id',
]

/** Columns derived from several fields of a record; undefined for a record of another kind. */
const DERIVED: Readonly<Record<string, (record: Wire) => unknown>> = {
  what: ({ balance_after_micros, description }) =>
    balance_after_micros === undefined ? undefined : description,
  // An app has a source of another kind.
  set_by: ({ resets_at, source }) => (resets_at === undefined ? undefined : source),
  last_result: ({ attempt_count, response, error }) => {
    if (attempt_count === undefined) return undefined
    const { status_code } = (response ?? {}) as Wire
    const { code, reason } = (error ?? {}) as Wire
    return status_code ?? reason ?? code ?? null
  },
  finished_at: ({ attempt_count, status, attempts }) => {
    if (attempt_count === undefined || !Array.isArray(attempts)) return undefined
    const last = (attempts as readonly Wire[]).at(-1)
    if (last === undefined || !isFinal(status as DeliveryStatus)) return null
    return toIso(Date.parse(String(last['started_at'])) + Number(last['duration_ms']))
  },
}

function columnOf(record: Wire, name: string): unknown {
  return record[name] === undefined ? DERIVED[name]?.(record) : record[name]
}

/** What the command line says where the API speaks of headers and paths. */
const HINTS: Readonly<Record<string, string>> = {
  account_required: 'Name the account with --account <id>; `keyhook account list` shows them.',
  key_not_found:
    'No key with this id is visible to you. Name a key by its id, not by its name or value; `keyhook key list` shows the ids. Those of another account need --account <id>.',
  webhook_not_found:
    'No webhook with this id is visible to you. `keyhook webhook list` shows the ids. Those of another account need --account <id>.',
}

/** Prints a response for a person: a list as a table, a record line by line. */
export function printAnswer(answer: Wire, secret: readonly string[] = []): string {
  const rows = answer['data']
  if (Array.isArray(rows)) {
    const list = printList(rows as readonly Wire[], answer['next_cursor'])
    return list + printRefused(answer['errors'])
  }
  const shown = secret.some((name) => typeof answer[name] === 'string')
  return (
    printRecord(answer) +
    (shown ? `\nThe ${secret.join(', ')} is shown only once. Keep it now.\n` : '')
  )
}

/** One `name  value` line for each field. */
function printRecord(record: Wire): string {
  return align(Object.entries(record).map(([name, value]) => [name, printValue(value)]))
}

function printList(rows: readonly Wire[], cursor: unknown): string {
  const more = typeof cursor === 'string' ? `\nThere is more: --cursor ${cursor}\n` : ''
  if (rows.length === 0) return `${more === '' ? 'None.' : 'None on this page.'}\n${more}`
  const columns = LIST_COLUMNS.filter((name) =>
    rows.some((row) => columnOf(row, name) !== undefined),
  )
  const table = align([
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => printValue(columnOf(row, name)))),
  ])
  return table + more
}

/** Maximum length of an account name in a choice. */
const NAME_LENGTH = 60

/** The option that selects each account of a list; empty for an empty list. */
export function printAccountChoice({ data, has_more }: Wire): string {
  const rows = (data as readonly Wire[] | undefined) ?? []
  const choices = rows.map(({ id, name }) => [
    `  --account ${printValue(id)}`,
    printValue(cutText(String(name), NAME_LENGTH)),
  ])
  return align(choices) + (has_more === true ? '  and more\n' : '')
}

/** Prints the refused parts of a request whose other parts succeeded. */
function printRefused(errors: unknown): string {
  if (!Array.isArray(errors) || errors.length === 0) return ''
  const lines = (errors as readonly Wire[]).map(({ name, message, code }) =>
    [printValue(name), printValue(message), printValue(code)].join('  '),
  )
  return `\nRefused:\n${lines.join('\n')}\n`
}

/** Aligned columns, each as wide as its widest cell. */
export function align(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  )
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('')
}

/**
 * One line of text without control characters: values may come from a stranger, such as a receiver's
 * response.
 */
function printValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return value.length === 0 ? '-' : harmless(value.join(', '))
  }
  if (isReference(value)) return harmless([value.type, value.id].filter(Boolean).join(' '))
  return harmless(typeof value === 'string' ? value : JSON.stringify(value))
}

/** A person or thing as audit entries and records refer to it. */
function isReference(
  value: unknown,
): value is { readonly type: string; readonly id: string | null } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    'id' in value &&
    Object.keys(value).length === 2
  )
}

function harmless(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Prints an error: what is wrong, where, and the request id to quote. */
export function printError({ error }: Wire): string {
  const { code, message, request_id, errors, details } = (error ?? {}) as Wire
  const faults = Array.isArray(errors) ? (errors as readonly Wire[]) : []
  const facts = Object.entries((details ?? {}) as Wire)
  const lines = [
    `keyhook: ${HINTS[String(code)] ?? printValue(message)} (${printValue(code)})`,
    ...faults.map((fault) => `  ${printValue(fault['location'])}: ${printValue(fault['message'])}`),
    ...facts.map(([name, value]) => `  ${name}: ${printValue(value)}`),
    `  request ${printValue(request_id)}`,
  ]
  return `${lines.join('\n')}\n`
}

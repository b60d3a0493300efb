import type { Webhook } from '../api/client.ts'
import type { api } from '../api/client.ts'

type Creation = Parameters<typeof api.webhooks.create>[0]
type Changes = Omit<Parameters<typeof api.webhooks.update>[0], 'webhook_id'>

export interface Header {
  readonly name: string
  readonly value: string
}

/** What a person decides of a webhook, as its form has it. */
export interface Settings {
  readonly url: string
  readonly description: string
  readonly events: readonly string[]
  /** Null: every app, and events without one. */
  readonly apps: readonly string[] | null
  /** Null: as they are. Values that are stored are never shown. */
  readonly headers: readonly Header[] | null
  /** Digits; empty: no limit, and the default. */
  readonly rateLimit: string
  readonly concurrency: string
  readonly standardHeaders: boolean
  readonly traceHeaders: boolean
}

export const NO_SETTINGS: Settings = {
  url: '',
  description: '',
  events: [],
  apps: null,
  headers: null,
  rateLimit: '',
  concurrency: '',
  standardHeaders: false,
  traceHeaders: false,
}

export function settingsOf(webhook: Webhook): Settings {
  return {
    url: webhook.url,
    description: webhook.description ?? '',
    events: webhook.events,
    apps: webhook.apps,
    headers: null,
    rateLimit: String(webhook.rate_limit ?? ''),
    concurrency: String(webhook.concurrency ?? ''),
    standardHeaders: webhook.standard_headers,
    traceHeaders: webhook.trace_headers,
  }
}

/** Each setting as the service has it. */
const FIELDS: {
  readonly [Name in keyof Settings]: (settings: Settings) => Changes
} = {
  url: ({ url }) => ({ url }),
  description: ({ description }) => ({ description: description === '' ? null : description }),
  events: ({ events }) => ({ events: [...events] }),
  apps: ({ apps }) => ({ apps: apps && [...apps] }),
  headers: ({ headers }) => ({ headers: headers && printHeaders(headers) }),
  rateLimit: ({ rateLimit }) => ({ rate_limit: amountOf(rateLimit) }),
  concurrency: ({ concurrency }) => ({ concurrency: amountOf(concurrency) }),
  standardHeaders: ({ standardHeaders }) => ({ standard_headers: standardHeaders }),
  traceHeaders: ({ traceHeaders }) => ({ trace_headers: traceHeaders }),
}

const NAMES = Object.keys(FIELDS) as readonly (keyof Settings)[]

/** Settings that differ, each as it is sent; what nobody touched is not sent, so it stays as others left it. */
export function changesBetween(before: Settings, after: Settings): Changes {
  const changed = NAMES.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  return Object.assign({}, ...changed.map((name) => FIELDS[name](after))) as Changes
}

/** The body that creates a webhook with these settings; what nobody changed has the default of the service. */
export function creationOf(settings: Settings): Creation {
  const { url, events } = settings
  const given = changesBetween(NO_SETTINGS, settings)
  return { ...given, url, events: [...events] } as Creation
}

/** Where events are sent, or which: the service asks for a recent proof of who asks. */
export function isRedirected(changes: Changes): boolean {
  return changes.url !== undefined || changes.events !== undefined || changes.apps !== undefined
}

function amountOf(digits: string): number | null {
  return digits === '' ? null : Number(digits)
}

/** What has to be done before the settings can be sent; undefined when nothing has. */
export function missingIn({ events, apps, headers }: Settings): string | undefined {
  if (events.length === 0) return 'Choose at least one type.'
  if (apps?.length === 0) return 'Name at least one app.'
  if (repeatedIn(headers ?? []).size > 0) return 'Name each header once.'
  return undefined
}

/** Places of headers whose name is above them already: an object of headers would lose one. */
export function repeatedIn(headers: readonly Header[]): ReadonlySet<number> {
  const names = headers.map(({ name }) => name.trim().toLowerCase())
  return new Set(names.flatMap((name, at) => (names.indexOf(name) < at ? [at] : [])))
}

function printHeaders(headers: readonly Header[]): Record<string, string> {
  return Object.fromEntries(headers.map(({ name, value }) => [name.trim(), value]))
}

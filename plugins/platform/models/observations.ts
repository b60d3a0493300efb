import { big, group, id, named, orNull, serial, small, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

/** What was looked at: the live release, or what an app's files are at present. */
export const OBSERVED_KINDS = ['published', 'preview'] as const

export type ObservedKind = (typeof OBSERVED_KINDS)[number]

/** What of the requests to an app is counted. */
export const METERS = ['requests', 'errors', 'not_found', 'egress_bytes'] as const

/** One request to an app. Its position is its place in the order in which lines were added. */
export const ACCESS_LINES = defineModel(
  'access_lines',
  {
    /** Unique, and of its instant as `uuid7Of` makes it. */
    id: id(),
    app_id: id(),
    kind: text<ObservedKind>(),
    deployment_id: orNull(text()),
    request_id: text(),
    at: big(),
    method: text(),
    path: text(),
    status: small(),
    /** Response body bytes sent. */
    bytes: big(),
    took_ms: big(),
  },
  { position: serial() },
)

const COUNTER = {
  /** Of UTC: `2026-01-31`. */
  day: id(),
  kind: id<ObservedKind>(),
  meter: id<(typeof METERS)[number]>(),
}

export const APP_USAGE = defineModel(
  'app_usage',
  {
    ...COUNTER,
    total: big(),
    /** The latest instant of which anything is counted in it. */
    as_of: big(),
  },
  { app_id: id() },
)

/** What is to be added to a counter of one day. */
export const USAGE_ADDITION = group({ app_id: id(), ...COUNTER, amount: big() })

/** What came of asking a published app for its page. */
export const APP_CHECKS = defineModel('app_checks', {
  app_id: id(),
  at: big(),
  status: text<'pass' | 'fail'>(),
  /** Null where nothing was answered. */
  latency_ms: orNull(big()),
  message: orNull(text()),
})

/** When an app is to be asked next. */
export const APP_PROBES = defineModel('app_probes', {
  app_id: id(),
  at: named('due_at', big()),
})

/** The last batch that a source of observations wrote. */
export const OBSERVERS = defineModel('observers', { source: id(), batch: big(), at: big() })

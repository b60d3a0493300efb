import { big, group, id, json, orNull, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'
import type { ObservedKind } from './observations.ts'

export const ERROR_GROUP_STATUSES = ['open', 'resolved'] as const

/** One occurrence, to show what it looks like. */
export interface ErrorSample {
  readonly message: string
  readonly stack: string | null
  readonly url: string
}

const TOLD = {
  /** Which it has if it was not known before. Time-ordered. */
  id: id(),
  app_id: id(),
  kind: id<ObservedKind>(),
  /** What is the same in all of its occurrences, as a digest. */
  fingerprint: id(),
  type: text(),
  title: text(),
  culprit: text(),
  count: big(),
  first_seen: big(),
  last_seen: big(),
  /** What brought it, and again when it comes back after it was resolved. */
  deployment_id: orNull(text()),
  edit_id: orNull(text()),
  /** The latest. */
  sample: json<ErrorSample>(),
}

/** What is told of occurrences that are of one group. */
export const TOLD_ERRORS = group({
  ...TOLD,
  /** The network that reported it, numbered within the batch so that no address is stored. */
  reporter: big(),
})

export const ERROR_GROUPS = defineModel('problems', {
  ...TOLD,
  status: text<(typeof ERROR_GROUP_STATUSES)[number]>(),
  /** When it was last resolved; it stays when it comes back. */
  resolved_at: orNull(big()),
  /** When it last came back after that. */
  reopened_at: orNull(big()),
})

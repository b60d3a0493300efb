import { id, int, named, orNull, big, creator, flag, json, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'
import { PROGRESS } from './jobs.ts'

export const DEPLOYMENT_STATUSES = [
  'queued',
  'building',
  'deploying',
  'live',
  'superseded',
  'unpublished',
  'canceled',
  'failed',
] as const

/** Those of a deployment that is still to end or go live. No app has two. */
export const IN_PROGRESS = ['queued', 'building', 'deploying'] as const

/** As the indexes say it, word for word, so that they serve. */
export const IS_IN_PROGRESS = `status IN (${IN_PROGRESS.map((status) => `'${status}'`).join(', ')})`

export const DEPLOYMENT_KINDS = ['publish', 'rollback', 'unpublish'] as const

/** Why a deployment came to nothing, as its owner sees it. */
export interface DeploymentFailure {
  readonly code: string
  /** Kind of the cause, such as `request` or `transient`: it says who can fix it. */
  readonly class: string
  readonly message: string
  /** What was being done. */
  readonly step: string | null
  readonly retryable: boolean
}

export const DEPLOYMENTS = defineModel(
  'deployments',
  {
    /** Time-ordered. */
    id: id(),
    app_id: id(),
    account_id: id(),
    /** 1, 2, … of its app, in the order in which they were asked for. */
    release: int(),
    kind: text<(typeof DEPLOYMENT_KINDS)[number]>(),
    status: text<(typeof DEPLOYMENT_STATUSES)[number]>(),
    /** Of the app's files; null for what took the app offline. */
    revision: orNull(int()),
    /** The edit that made the revision. */
    edit_id: orNull(text()),
    /** The SHA-256, in hex, of the manifest that says what is served; null until it is made. */
    artifact: orNull(text()),
    /** What was live before it; null until it is live itself, and where nothing was. */
    previous_deployment_id: orNull(text()),
    /** Whose release a rollback goes back to. */
    restored_from: orNull(text()),
    message: orNull(text()),
    /** Why it took the app offline. */
    reason: orNull(text<'request' | 'archived' | 'suspended'>()),
    error: orNull(json<DeploymentFailure>()),
    created_by: creator(),
    created_at: big(),
    started_at: orNull(big()),
    /** When it became what is served; it stays when another took its place. */
    live_at: orNull(big()),
    ended_at: orNull(big()),
    /** Whether its going live was told of. */
    announced: flag(),
    /** Once it was live, pages of what was live before it are served nothing of that any more. */
    retire_earlier: flag(),
  },
  /** Whether it may be switched to at any moment. */
  { poised: flag() },
  {
    shows: {
      /** Null while it waits and once it ended. */
      step: named('stage', PROGRESS.stage),
      done: PROGRESS.done,
      total: PROGRESS.total,
      /** Set while it is in progress, once it is to stop; null once it ended. */
      cancel_at: orNull(big()),
    },
    only: IS_IN_PROGRESS,
  },
)

/** What an app serves. */
export const SITES = defineModel('sites', {
  app_id: id(),
  account_id: id(),
  /** What is live; null while nothing is. */
  deployment_id: orNull(id()),
  /** Incremented when the site switches or goes offline; 0 before the first switch. */
  generation: named('turn', int()),
  /** Begins the address under which its files are seen before they are published; nobody guesses it. */
  preview: id(),
})

import type { NewEvent } from '../../../lib/engine/ports.ts'
import { KeyhookError, kernelError } from '../../../lib/errors.ts'
import { FULL_AUTHORITY } from '../../../lib/grant/authority.ts'
import { JsonError, requireIJson } from '../../../lib/internal/json.ts'
import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'
import type {
  OutboxRow,
  PublishRows,
  RowOutcome,
  RowRefusal,
} from '../../../plugins/outbox/contract.ts'
import { sortOutcomes } from '../../../plugins/outbox/contract.ts'
import type { OperatorPrincipal } from '../../authority/principal.ts'
import { isAccountId } from '../../authority/principal.ts'
import { judgeOne, toAnswer } from '../../families/events/publish.ts'
import { isRefusal, toError } from '../../families/events/refusals.ts'
import { publishedEvent } from '../../families/events/schema.ts'
import { httpError, invalidJson } from '../../operations/errors.ts'
import { createInputReader } from '../../operations/read-input.ts'
import type { Platform } from '../../platform.ts'
import type { OutboxStatus } from './status.ts'

/** Publishing of rows, and the accounts that are published for later. */
export interface RowPublisher {
  readonly publish: PublishRows
  /** Accounts that have too many events waiting at the moment, or of which a row met an internal error. */
  held(): readonly string[]
}

export interface RowPublisherOptions {
  readonly platform: Pick<Platform, 'engine' | 'eventTypes' | 'clock' | 'random' | 'store'>
  /** Whether an account must have been created: false when accounts are the embedder's own. */
  readonly hasAccounts: boolean
  readonly counts: OutboxStatus['counts']
  /** Called with the cause of an internal error, which the row must not contain: the backend's database keeps it. */
  readonly onUnexplained: (row: OutboxRow, cause: unknown) => void
  /** Called once for each group of rows that has refused ones. */
  readonly onRefused: (refused: readonly (OutboxRow & RowRefusal)[]) => void
}

const readEvent = createInputReader(publishedEvent)

/**
 * Least seconds for which an account with too many waiting events is left out: longer than any pause, so that
 * its rows, which may be the first, do not come back before others were tried.
 */
const HELD_FOR = 2

/** Maximum accounts that are remembered to exist, and rows for their errors. */
const MAX_REMEMBERED = 10_000

/** Maximum characters of a reason. */
const MAX_REASON = 1000

/** Seconds for which an account is left out after an internal error: each attempt writes a line of the log. */
const HELD_UNEXPLAINED = 15

/** Attempts at a row that meets internal errors, over five minutes; then the rows behind it go on. */
const MAX_UNEXPLAINED = 20

/** For the row, which is in the backend's database: nothing of the inside of the daemon. */
const UNEXPLAINED = 'it could not be published: the log of the daemon has the cause'

/** A row is published as the operator would. */
const operatorFor = (account_id: string): OperatorPrincipal => ({
  type: 'operator',
  account_id,
  authority: FULL_AUTHORITY,
})

/**
 * Publishes rows of an outbox by the rules of `POST /v1/events`. Each row is a call of its own, so that one
 * that cannot be committed affects no other; the engine commits them in groups.
 */
export function createRowPublisher(options: RowPublisherOptions): RowPublisher {
  const { platform, hasAccounts, counts, onRefused, onUnexplained } = options
  const { engine, eventTypes, clock, store } = platform
  /** By the steady clock. */
  const heldUntil = new Map<string, Millis>()
  /** Attempts that met an internal error, by the position of the row, which the backend may delete meanwhile. */
  const unexplained = new Map<string, number>()
  /** Accounts that exist. They are never deleted. */
  const existing = new Set<string>()

  async function requireAccount(id: string): Promise<void> {
    if (!isAccountId(id)) throw httpError('account_not_found')
    if (!hasAccounts || existing.has(id)) return
    if ((await store.accounts.get(id)) === undefined) throw httpError('account_not_found')
    if (existing.size >= MAX_REMEMBERED) existing.clear()
    existing.add(id)
  }

  /** @throws KeyhookError for a row that cannot be published as it is */
  async function toEvent(row: OutboxRow): Promise<NewEvent> {
    const { account_id, id, type, app_id, data, bytes } = row
    await requireAccount(account_id)
    if (data === undefined) throw kernelError('event_too_large', { details: { bytes } })
    const body = { id, type, data: parseData(data), ...(app_id === null ? {} : { app_id }) }
    const { value, faults } = readEvent(body, 'row')
    if (faults !== undefined) throw httpError('invalid_request', { errors: faults })
    const caller = {
      platform: platform as Platform,
      principal: operatorFor(account_id),
      now: clock.now(),
      // The data is a JSON object of its own: it cannot name other fields.
      bodyText: `{"data":${data}}`,
    }
    const judged = judgeOne(caller, value, await eventTypes.declared(account_id))
    if (isRefusal(judged)) throw toError(judged)
    return judged
  }

  async function publishEvent(event: NewEvent): Promise<RowOutcome> {
    const [outcome] = await engine.outbox.publish([event])
    const answer = toAnswer(event, outcome)
    if (isRefusal(answer)) throw toError(answer)
    counts[answer.status === 'duplicate' ? 'duplicate' : 'published'] += 1
    return 'published'
  }

  function hold(account: string, seconds: number): void {
    heldUntil.set(account, clock.steady() + seconds * SECOND)
  }

  function outcomeOf(row: OutboxRow, cause: unknown): RowOutcome {
    if (!(cause instanceof KeyhookError)) return unexplainedOutcome(row, cause)
    if (cause.code === 'unavailable') return 'waits'
    if (cause.code !== 'rate_limited') return { code: cause.code, reason: reasonOf(cause) }
    const seconds = Math.max(HELD_FOR, Number(cause.details?.['retry_after'] ?? 0))
    hold(row.account_id, seconds)
    return 'waits'
  }

  /** The row is not known to be at fault, so it waits, and the rows of its account with it. */
  function unexplainedOutcome(row: OutboxRow, cause: unknown): RowOutcome {
    onUnexplained(row, cause)
    const attempts = (unexplained.get(row.position) ?? 0) + 1
    if (attempts === MAX_UNEXPLAINED) return { code: 'internal_error', reason: UNEXPLAINED }
    if (unexplained.size >= MAX_REMEMBERED) unexplained.clear()
    unexplained.set(row.position, attempts)
    hold(row.account_id, HELD_UNEXPLAINED)
    return 'waits'
  }

  return {
    async publish(rows) {
      const events: (NewEvent | RowOutcome)[] = []
      /** Accounts of which a row of this group waits: those behind it do not pass it. */
      const waiting = new Set<string>()
      for (const row of rows) {
        const event = waiting.has(row.account_id)
          ? 'waits'
          : await toEvent(row).catch((cause: unknown) => outcomeOf(row, cause))
        if (event === 'waits') waiting.add(row.account_id)
        events.push(event)
      }
      // At once and in their order, which the engine keeps for the events of an account.
      const outcomes = await Promise.all(
        rows.map(async (row, index) => {
          const event = events[index]
          if (!isNewEvent(event)) return event ?? 'waits'
          return publishEvent(event).catch((cause: unknown) => outcomeOf(row, cause))
        }),
      )
      for (const [index, { position }] of rows.entries()) {
        if (outcomes[index] !== 'waits') unexplained.delete(position)
      }
      const { refused } = sortOutcomes(rows, outcomes)
      counts.refused += refused.length
      if (refused.length > 0) onRefused(refused)
      return outcomes
    },
    held() {
      const now = clock.steady()
      for (const [account, until] of heldUntil) if (until <= now) heldUntil.delete(account)
      return [...heldUntil.keys()]
    },
  }
}

function isNewEvent(value: NewEvent | RowOutcome | undefined): value is NewEvent {
  return typeof value === 'object' && 'body' in value
}

/** @throws KeyhookError for a text that is not an object of JSON as the API accepts it */
function parseData(text: string): unknown {
  try {
    requireIJson(text)
  } catch (cause) {
    throw cause instanceof JsonError ? invalidJson(cause, 'row.data') : cause
  }
  return JSON.parse(text)
}

/** Message and faults as one text, for the row. */
function reasonOf({ message, errors }: KeyhookError): string {
  return [message, ...errors.map((one) => `${one.location}: ${one.message}`)]
    .join(' ')
    .slice(0, MAX_REASON)
}

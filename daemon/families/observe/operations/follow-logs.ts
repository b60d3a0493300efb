import { z } from 'zod'
import type { Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { TailQuery } from '../../../../plugins/platform/contract/observations.ts'
import type { StreamEvent } from '../../../operations/operation.ts'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import type { Follower } from '../../polling.ts'
import { poll } from '../../polling.ts'
import type { LogLine } from '../log-schema.ts'
import { env, exampleLine, exampleParams, logLine, toWireLine } from '../log-schema.ts'

/** Interval of polling: another process may serve the requests. */
const LOOK_EVERY: Millis = SECOND
const LINES_AT_ONCE = 200
/** Earlier lines for a client without a cursor. */
const LINES_BEFORE = 20

/** Query of the stream. */
interface Following extends Omit<TailQuery, 'limit'> {
  /** Position of the last line that the client has; null for none. */
  readonly after: number | null
}

export const followLogs = operation({
  effect: 'stream',
  id: 'observe.follow_logs',
  summary: 'Follow the requests to an app: the last 20, then each new one, as server-sent events',
  method: 'GET',
  path: '/v1/apps/{app_id}/logs/follow',
  access: { scope: 'observe:read', pinned: 'allowed' },
  agent: { omit: 'An endless stream; observe_logs reads the same lines in pages.' },
  emits: ['observe'],
  input: { params: appParams, query: z.strictObject({ env: env.optional() }) },
  output: logLine,
  errors: ['app_not_found'],
  example: { params: exampleParams, response: exampleLine },
  async run(call) {
    const { platform, principal, params, query, left } = call
    const { id: app_id, account_id } = await findApp(platform.store.apps, principal, params.app_id)
    const after = /^\d{1,15}$/.test(call.after) ? Number(call.after) : null
    const follower = { holder: account_id, left }
    return streamLogs(platform, follower, { app_id, kind: query.env ?? null, after })
  },
})

/**
 * Streams lines in the order of recording, with the position as id: a reconnecting client misses none,
 * whichever process served the request.
 */
async function* streamLogs(
  platform: Platform,
  follower: Follower,
  { app_id, kind, after }: Following,
): AsyncGenerator<StreamEvent<LogLine>> {
  const { apps, observations } = platform.store
  let seen = after
  for await (const { lines } of poll(platform, LOOK_EVERY, follower, read)) {
    for (const { position, ...line } of lines) {
      yield { id: String(position), event: 'line', data: toWireLine(line) }
      seen = position
    }
    // There was no line yet: every later one is new.
    seen ??= 0
  }

  async function read() {
    if (!(await apps.exists(app_id))) return undefined
    const limit = seen === null ? LINES_BEFORE : LINES_AT_ONCE
    const lines = await observations.tail({ app_id, kind, after: seen, limit })
    return { lines, more: lines.length === LINES_AT_ONCE }
  }
}

import { z } from 'zod'
import type { Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { StreamEvent } from '../../../family.ts'
import { streamOperation } from '../../../family.ts'
import type { Platform } from '../../../platform.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { nextLook } from '../../line-stream.ts'
import type { LogLine } from '../log-schema.ts'
import { env, exampleLine, exampleParams, logLine, toWireLine } from '../log-schema.ts'

/** Requests may be served by another process, so they are looked at. */
const LOOK_EVERY: Millis = SECOND
const LINES_AT_ONCE = 200
/** What a client without a place is shown of what was before. */
const LINES_BEFORE = 20

const query = z.strictObject({ env: env.optional() })

interface Following extends z.output<typeof query> {
  /** The position of the last line that the client has. */
  readonly after: number | null
  readonly left: AbortSignal
}

export const followLogs = streamOperation({
  id: 'observe.follow_logs',
  summary: 'Follow the requests to an app: the last twenty, and each as it is recorded',
  method: 'GET',
  path: '/v1/apps/{app_id}/logs/follow',
  access: { scope: 'observe:read', pinned: 'allowed' },
  emits: ['observe'],
  input: { params: appParams, query },
  output: logLine,
  errors: ['app_not_found'],
  example: { params: exampleParams, response: exampleLine },
  async run(call) {
    const app = await findApp(call.platform.store.apps, call.principal, call.params.app_id)
    const after = /^\d{1,15}$/.test(call.after) ? Number(call.after) : null
    return follow(call.platform, app.id, { after, left: call.left, env: call.query.env })
  },
})

/**
 * Lines in the order in which they were recorded, each with its position as id: a client that comes back
 * misses none, whichever process served it.
 */
async function* follow(
  { store, clock }: Platform,
  appId: string,
  { after, left, env }: Following,
): AsyncGenerator<StreamEvent<LogLine>> {
  for (let seen = after; ;) {
    const most = seen === null ? LINES_BEFORE : LINES_AT_ONCE
    const lines = await store.observations.tail(appId, seen, most)
    for (const { position, ...line } of lines) {
      if (env === undefined || line.kind === env) {
        yield { id: String(position), event: 'line', data: toWireLine(line) }
      }
      seen = position
    }
    if (lines.length === LINES_AT_ONCE) continue
    await nextLook(clock, LOOK_EVERY, left)
    if (left.aborted || !(await store.apps.exists(appId))) return
  }
}

import type { TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { accountOf } from '../authority/principal.ts'
import { pauseFor, readInTurn } from '../families/polling.ts'
import { artifactsOf } from './artifacts.ts'
import type { A2aCall } from './call.ts'
import type { StatusUpdate, WireStatus } from '../jobs/tasks.ts'
import { STATE_NAMES, statusOf, updateOf } from '../jobs/tasks.ts'
import { LOOKED_AT_AFTER, refreshTask } from './refresh.ts'
import { isUnderWay } from './states.ts'
import type { Shown } from './tasks.ts'
import { printTask } from './tasks.ts'
import type { WireArtifact, WireTask } from './wire.ts'

/** One event of a stream, or one notification (4.2, 3.2.3). */
export type StreamResponse =
  | { readonly task: WireTask }
  | StatusUpdate
  | { readonly artifactUpdate: ArtifactUpdate }

export interface ArtifactUpdate {
  readonly taskId: string
  readonly contextId: string
  readonly artifact: WireArtifact
  readonly lastChunk: true
}

/**
 * The task as it is now, and what becomes of it, until `left` aborts or it has ended or asks for input
 * again. Every reader gets the same updates in the same order, however late it looks.
 */
export type TaskUpdates = (left: AbortSignal) => AsyncIterable<StreamResponse>

const FIRST_LOOK: Millis = 50
const LOOK_EVERY: Millis = SECOND

/**
 * Follows a task that its caller just asked for, which ends at once when it is the caller's turn, or one
 * that is subscribed to, which goes on when somebody answers.
 */
export function followTask(
  call: A2aCall,
  task: TaskRecord,
  shown: Shown,
  whose: 'asked' | 'subscribed',
): TaskUpdates {
  return async function* updates(left) {
    yield { task: await printTask(call, task, shown) }
    const goesOn = isUnderWay(task.state) || (whose === 'subscribed' && isAsking(task))
    let known = task
    let lookedAt = call.platform.clock.now()
    for (let pause = FIRST_LOOK, isOver = !goesOn; !isOver;) {
      let found = await lookAgain(call, known.id, pause, left)
      if (found === undefined) return
      const now = call.platform.clock.now()
      if (now - lookedAt >= LOOKED_AT_AFTER) {
        found = await refreshTask(call, found)
        lookedAt = now
      }
      pause = Math.min(2 * pause, LOOK_EVERY)
      if (found.state === known.state && found.state_at === known.state_at) continue
      yield* changesOf(call, known, found)
      isOver = !isUnderWay(found.state)
      known = found
      pause = FIRST_LOOK
    }
  }
}

const isAsking = ({ state }: TaskRecord): boolean => state === 'input_required'

/** Undefined: nobody reads any more, or the task is gone. */
async function lookAgain(
  { platform, principal }: A2aCall,
  id: string,
  pause: Millis,
  left: AbortSignal,
): Promise<TaskRecord | undefined> {
  await pauseFor(platform.clock, pause, left)
  if (left.aborted) return undefined
  const follower = { holder: accountOf(principal), left }
  return readInTurn(platform, follower, () => platform.store.tasks.get(principal.key.id, id))
}

/** The updates from one state of a task to a later one; between the two it may have begun. */
async function* changesOf(
  call: A2aCall,
  before: TaskRecord,
  after: TaskRecord,
): AsyncGenerator<StreamResponse> {
  const begun = before.state === 'working' ? null : after.started_at
  if (begun !== null) yield updateOf(after, workingSince(begun))
  if (isUnderWay(after.state)) return
  for (const artifact of await artifactsOf(call, after)) {
    const { id: taskId, context_id: contextId } = after
    yield { artifactUpdate: { taskId, contextId, artifact, lastChunk: true } }
  }
  yield updateOf(after, await statusOf(call.platform.store.tasks, after))
}

function workingSince(at: number): WireStatus {
  return { state: STATE_NAMES.working, timestamp: new Date(at).toISOString() }
}

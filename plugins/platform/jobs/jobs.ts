import type { JobReads, JobWrites } from '../contract/jobs.ts'
import type { ReadScope } from '../sql/scope.ts'
import { cancel } from './cancel.ts'
import { claimNext, claimOne, isClaimable } from './claim.ts'
import { complete } from './complete.ts'
import { dequeue, enqueue } from './enqueue.ts'
import { heartbeat, readHold } from './heartbeat.ts'
import { log, readLines } from './log.ts'
import { release } from './release.ts'
import { reschedule } from './reschedule.ts'

export function jobReads({ query, t }: Pick<ReadScope, 'query' | 't'>): JobReads {
  return {
    isClaimable: (kind, now) => isClaimable(query, t, kind, now),
    hold: (id, claim) => readHold(query, t, id, claim),
    lines: (id, after, limit) => readLines(query, t, id, after, limit),
  }
}

export function jobWrites({ query, t, dialect }: ReadScope): JobWrites {
  return {
    ...jobReads({ query, t }),
    enqueue: (job) => enqueue(query, t, job),
    claim: (kind, asked) => claimNext(query, t, kind, asked),
    claimOne: (kind, id, asked) => claimOne(query, t, kind, id, asked),
    heartbeat: (id, claim, beat) => heartbeat(query, t, id, claim, beat),
    release: (id, claim, given) => release(query, t, id, claim, given),
    reschedule: (id, claim, runAt) => reschedule(query, t, id, claim, runAt),
    cancel: (id, now) => cancel(query, t, id, now),
    complete: (id, claim) => complete(query, t, id, claim),
    dequeue: (id) => dequeue(query, t, id),
    log: (id, lines) => log(query, t, dialect, id, lines),
  }
}

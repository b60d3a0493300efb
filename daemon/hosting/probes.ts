import type { Instant, Millis } from '../../lib/time.ts'
import { MINUTE, SECOND } from '../../lib/time.ts'
import type { CheckRecord, ProbesDue } from '../../plugins/platform/contract/observations.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'

/** Response of an app. */
export interface ProbeAnswer {
  readonly status: number
  readonly latency: Millis
}

/** Requests to published apps. */
export interface ProbePorts {
  /**
   * Requests the page of a host over HTTP, as a visitor would, without being observed as one. Rejects without a
   * response.
   */
  probe(host: string): Promise<ProbeAnswer>
  hostOf(appId: string): string
}

export interface ProbeTimes {
  /** Interval between probes of an app, with 10 % of jitter. */
  readonly every: Millis
  /** Interval of looking for apps that are due. */
  readonly look: Millis
  /** Maximum wait for a response. */
  readonly timeout: Millis
}

const PROBE_TIMES: ProbeTimes = { every: MINUTE, look: 5 * SECOND, timeout: 10 * SECOND }

/** Few enough to probe all of them before the first is due again. */
const CLAIMED_AT_ONCE = 32
const PROBES_AT_ONCE = 8

/**
 * Probes the page of every published app at an interval and records the result, until it is stopped. Of several
 * processes, one probes each time.
 */
export function startProbing(
  platform: Pick<Platform, 'store' | 'clock' | 'random'>,
  log: Log,
  { probe, hostOf }: ProbePorts,
  { every, look, timeout }: ProbeTimes = PROBE_TIMES,
): { stop(): Promise<void> } {
  const { store, clock, random } = platform
  const stopping = new AbortController()
  let cancel = (): void => undefined
  let looking = lookForDue()

  async function lookForDue(): Promise<void> {
    await askAllDue().catch((cause: unknown) => {
      log.warn({ err: cause }, 'apps could not be probed; retrying')
    })
    if (stopping.signal.aborted) return
    cancel = clock.after(look, () => {
      looking = lookForDue()
    })
  }

  async function askAllDue(): Promise<void> {
    for (let full = true; full && !stopping.signal.aborted;) {
      const due = await store.observations.dueProbes(dueBy(clock.now()), CLAIMED_AT_ONCE)
      if (due.length > 0) await askAll(due)
      full = due.length === CLAIMED_AT_ONCE
    }
  }

  async function askAll(due: readonly string[]): Promise<void> {
    const now = clock.now()
    const next = due.map((app_id) => ({ app_id, at: now + jittered() }))
    const claimed = await store.write((tx) => tx.observations.claimProbes(next, dueBy(now)))
    const left = [...claimed]
    const checks: CheckRecord[] = []
    async function askOn(): Promise<void> {
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        const check = await ask(id)
        if (stopping.signal.aborted) return
        if (check !== undefined) checks.push(check)
      }
    }
    await Promise.all(Array.from({ length: PROBES_AT_ONCE }, askOn))
    if (checks.length > 0) await store.write((tx) => tx.observations.addChecks(checks))
  }

  /** Twice the interval, because clocks differ. */
  function dueBy(now: Instant): ProbesDue {
    return { now, furthest: now + 2 * every }
  }

  /** Undefined for an app that is no longer published. */
  async function ask(app_id: string): Promise<CheckRecord | undefined> {
    const answer = await answerOf(app_id)
    const isFine = typeof answer !== 'string' && answer.status < 400
    if (!isFine && (await store.deployments.live(app_id)) === undefined) return undefined
    return {
      app_id,
      at: clock.now(),
      status: isFine ? 'pass' : 'fail',
      latency_ms: typeof answer === 'string' ? null : Math.round(answer.latency),
      message: messageOf(answer),
    }
  }

  /** The response, or why there is none. */
  function answerOf(appId: string): Promise<ProbeAnswer | string> {
    return new Promise((resolve) => {
      const end = (answer: ProbeAnswer | string): void => {
        cancelTimer()
        stopping.signal.removeEventListener('abort', giveUp)
        resolve(answer)
      }
      const giveUp = (): void => end('The service is stopping.')
      const cancelTimer = clock.after(timeout, () => {
        end(`The app did not answer within ${timeout / SECOND} seconds.`)
      })
      stopping.signal.addEventListener('abort', giveUp)
      probe(hostOf(appId)).then(end, () => end('The app did not answer.'))
    })
  }

  /** Spreads apps that became due together. */
  function jittered(): Millis {
    const [byte = 0] = random(1)
    return Math.round(every * (0.9 + (0.2 * byte) / 255))
  }

  return {
    async stop() {
      stopping.abort()
      cancel()
      await looking
    },
  }
}

function messageOf(answer: ProbeAnswer | string): string | null {
  if (typeof answer === 'string') return answer
  return answer.status < 400 ? null : `The app answered ${answer.status}.`
}

import type { WriteStream } from 'node:fs'
import type { Reply } from '../crash/wire.ts'
import { createWire } from '../crash/wire.ts'
import type { Probe, Value } from './authority.ts'
import { brokenBy, isLater, mayBeRefused } from './authority.ts'
import type { FleetLedger } from './invariants.ts'
import { rest, steady } from './steady.ts'

/** Asks every daemon for every value, without end, and holds each answer against what was changed. */
export interface Prober {
  readonly values: Map<string, Value>
  readonly counts: ProbeCounts
  /** Asks every daemon at once, beside the loops. */
  ask(value: Value): void
  stop(): Promise<void>
}

export interface ProbeCounts {
  accepted: number
  refused: number
  /** No answer, or one that says nothing of the value. */
  unknown: number
}

/** Questions under way at each daemon; one that does not answer soon is not waited for. */
const WORKERS = 2
const PATIENCE = 50
const MOST = 24
const NOBODY_THERE = 25

export function startProber(
  origins: readonly string[],
  journal: WriteStream,
  ledger: FleetLedger,
): Prober {
  const send = createWire()
  const values = new Map<string, Value>()
  const counts: ProbeCounts = { accepted: 0, refused: 0, unknown: 0 }
  const underWay = new Set<Promise<unknown>>()
  let isStopped = false

  function probe(daemon: number, value: Value): Promise<Reply> {
    const asking = ask(daemon, value).finally(() => underWay.delete(asking))
    underWay.add(asking)
    return asking
  }

  async function ask(daemon: number, value: Value): Promise<Reply> {
    const at = Date.now()
    const started = steady()
    const path = '/v1/keys/self'
    const reply = await send(origins[daemon] ?? '', { method: 'GET', path, token: value.token })
    const ended = steady()
    const { status, body } = reply
    journal.write(
      `["probe",${daemon},"${value.name}",${started},${ended},${status},"${codeOf(reply)}"]\n`,
    )
    const isRefused = status === 401 || status === 403
    if (status !== 200 && !isRefused) counts.unknown++
    else look(daemon, value, { started, ended, at, held: isRefused ? undefined : heldBy(body) })
    return reply
  }

  function look(daemon: number, value: Value, probe: Probe): void {
    counts[probe.held === undefined ? 'refused' : 'accepted']++
    const said = (): string => `${value.name} at daemon ${daemon}, ${JSON.stringify(probe)}`
    if (isLater(value, probe)) {
      const broken = brokenBy(value, probe)
      ledger.check('authority.held', broken === undefined, () => {
        return `${said()}: beyond ${JSON.stringify(broken)}`
      })
    }
    if (probe.held === undefined) ledger.check('authority.kept', mayBeRefused(value, probe), said)
  }

  async function work(daemon: number): Promise<void> {
    let under = 0
    let next = values.values()
    while (!isStopped) {
      const taken = next.next()
      if (taken.done === true || under >= MOST) {
        next = values.values()
        await rest(taken.done === true && values.size > 0 ? 0 : NOBODY_THERE)
        continue
      }
      under++
      const probing = probe(daemon, taken.value).then(async ({ status }) => {
        if (status === 0) await rest(NOBODY_THERE)
        under--
      })
      await Promise.race([probing, rest(PATIENCE)])
    }
  }

  const working = origins.flatMap((_, daemon) =>
    Array.from({ length: WORKERS }, () => work(daemon)),
  )
  return {
    values,
    counts,
    ask(value) {
      for (const daemon of origins.keys()) void probe(daemon, value)
    },
    async stop() {
      isStopped = true
      await Promise.all(working)
      await Promise.all(underWay)
    },
  }
}

function codeOf({ body }: Reply): string {
  return (body['error'] as { readonly code?: string } | undefined)?.code ?? ''
}

function heldBy(body: Reply['body']): Probe['held'] {
  const expiry = body['effective_expires_at']
  return {
    scopes: body['effective_scopes'] as readonly string[],
    expiresAt: typeof expiry === 'string' ? Date.parse(expiry) : null,
  }
}

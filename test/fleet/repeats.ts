import { createApi } from '../crash/api.ts'
import type { Ask, Reply } from '../crash/wire.ts'
import { createWire } from '../crash/wire.ts'
import type { Fleet, Member } from './fleet.ts'
import type { FleetLedger } from './invariants.ts'
import { rest, steady } from './steady.ts'

export interface RepeatOptions {
  readonly fleet: Fleet
  readonly ledger: FleetLedger
  /** How often each way to end a value is gone through. */
  readonly rounds: number
  readonly progress: (line: string) => void
}

const ACCOUNT = 'fleet-repeats'
/** Renewed meanwhile, so that all of its lease is left. */
const RENEWS = 700
/** Within this a change is committed, and what remains of it is to wait. */
const COMMITS = 200
/** A daemon that goes by what it keeps answers at once. */
const PATIENCE = 400
const READY_WITHIN = 20_000

interface Key {
  readonly id: string
  readonly value: string
}

/** Ways to end a value, each as it is asked, and asked again. */
const ENDINGS: Readonly<Record<string, (key: Key) => Omit<Ask, 'token'>>> = {
  revoke: ({ id }) => ({ method: 'DELETE', path: `/v1/keys/${id}` }),
  rotate: ({ id }) => ({
    method: 'POST',
    path: `/v1/keys/${id}/rotate`,
    body: { grace_seconds: 0 },
    headers: { 'idempotency-key': `ending-${id}` },
  }),
  end_previous: ({ id }) => ({ method: 'DELETE', path: `/v1/keys/${id}/previous` }),
  suspend: () => ({ method: 'POST', path: `/v1/accounts/${ACCOUNT}/suspend` }),
}

/**
 * A daemon that was asked for a change dies while it waits for one that is cut off; a third is asked
 * again, and finds the change made.
 */
export async function runRepeats(options: RepeatOptions): Promise<{ readonly repeats: number }> {
  const { fleet, ledger, rounds, progress } = options
  const send = createWire()
  let repeats = 0

  const ask = (member: Member, asked: Omit<Ask, 'token'>): Promise<Reply> =>
    send(member.origin, {
      ...asked,
      token: fleet.operator,
      headers: { 'keyhook-account': ACCOUNT, ...asked.headers },
    })

  const probe = (member: Member, { value }: Key): Promise<Reply> =>
    send(member.origin, { method: 'GET', path: '/v1/keys/self', token: value })

  async function makeKey(member: Member, ending: string): Promise<Key> {
    const body = { name: ending, scopes: ['apps:read'] }
    const { body: made } = await ask(member, { method: 'POST', path: '/v1/keys', body })
    const key = { id: String(made['id']), value: String(made['key']) }
    const path = `/v1/keys/${key.id}/rotate`
    if (ending === 'end_previous') await ask(member, { method: 'POST', path })
    return key
  }

  async function repeat(ending: string, members: readonly Member[]): Promise<void> {
    const [asked, again, cutOff] = members
    const endingOf = ENDINGS[ending]
    if (!asked || !again || !cutOff || !endingOf) throw new Error('three daemons are needed')
    const key = await makeKey(asked, ending)
    for (const member of members) await probe(member, key)
    await rest(RENEWS)
    const { status } = await probe(cutOff, key)
    if (status !== 200) throw new Error(`a new key was answered ${status}`)
    cutOff.proxy.hold('out', 'back')
    const lost = ask(asked, endingOf(key))
    await rest(COMMITS)
    await asked.kill()
    await lost
    const began = steady()
    const answer = await ask(again, endingOf(key))
    const took = Math.round(steady() - began)
    const said = await Promise.race([probe(cutOff, key), rest(PATIENCE)])
    const isAnswered = answer.outcome !== 'unknown'
    ledger.check('authority.repeated', !isAnswered || said?.status !== 200, () => {
      return `${ending}: asked again it was answered ${answer.status} after ${took} ms, and the value is accepted still`
    })
    repeats++
    cutOff.proxy.resume()
    await asked.start()
    const late = await fleet.ready(READY_WITHIN)
    ledger.check('daemon.recovers', late.length === 0, () => `${ending} that was asked again`)
    await ask(again, { method: 'POST', path: `/v1/accounts/${ACCOUNT}/resume` })
    progress(`${repeats} asked again; ${ending}: ${answer.status} after ${took} ms`)
  }

  if (rounds > 0) {
    const origins = fleet.members.map(({ origin }) => origin)
    const body = { name: ACCOUNT, id: ACCOUNT }
    await createApi(origins, fleet.operator).ask('POST', '/v1/accounts', body)
  }
  for (let round = 0; round < rounds; round++) {
    for (const [index, ending] of Object.keys(ENDINGS).entries()) {
      const from = (round + index) % fleet.members.length
      await repeat(ending, [...fleet.members.slice(from), ...fleet.members.slice(0, from)])
    }
  }
  return { repeats }
}

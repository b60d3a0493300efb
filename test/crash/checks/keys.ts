import type { Api } from '../api.ts'
import type { Operation } from '../history.ts'
import type { Ledger } from '../ledger.ts'
import type { Json } from '../wire.ts'

const AT_ONCE = 100
/** Of the values that ended long ago, so many are asked for again each time. */
const OLD_ONES = 100

/** Which values must work and which must not, as the driver was told. */
export interface KeyCheck {
  /** Takes in operations; one that ended is never looked at again. */
  note(operations: readonly Operation[]): void
  /** Asks for the values; `note` is called in between, for what is being ended meanwhile. */
  run(reread: () => void, pick: (below: number) => number): Promise<void>
  /** Names must be there once. */
  names(): Promise<void>
}

export function createKeyCheck(api: Api, ledger: Ledger): KeyCheck {
  const live = new Map<string, string>()
  const dead = new Map<string, string>()
  const names = new Map<string, string>()
  let recent: string[] = []
  let open: readonly Operation[] = []
  let taken = 0

  function ends({ call }: Operation): readonly string[] {
    const { intent } = call
    if (intent.kind === 'key.rotate') return intent.old
    return intent.kind === 'key.revoke' ? intent.values : []
  }

  function settle(operation: Operation): void {
    const { call, end } = operation
    const { intent } = call
    if (end === undefined) return
    if (intent.kind === 'probe') probe(intent, end.status, end.at)
    if (end.outcome !== 'ok') return
    if (intent.kind === 'key.create') names.set(intent.name, end.id ?? '')
    const why = `op ${call.op}, ${intent.kind} acknowledged at ${end.at}`
    for (const value of ends(operation)) {
      live.delete(value)
      dead.set(value, why)
      recent.push(value)
    }
    if (typeof end.shown === 'string') live.set(end.shown, why)
  }

  /** A status of 0 or 5xx says nothing of the key. */
  function probe(
    { value, expect }: { readonly value: string; readonly expect: 'live' | 'dead' },
    status: number,
    at: number,
  ): void {
    const wanted = expect === 'live' ? 200 : 401
    ledger.check(expect === 'live' ? 'keys.kept' : 'keys.ended', status === wanted, () => {
      return `${value.slice(0, 20)} was answered ${status} at ${at}, ${dead.get(value) ?? ''}`
    })
  }

  return {
    note(operations) {
      const known = [...open, ...operations.slice(taken)]
      taken = operations.length
      for (const operation of known) settle(operation)
      open = known.filter(({ end }) => end === undefined)
    },
    async run(reread, pick) {
      const old = [...dead.keys()]
      const again = Array.from({ length: Math.min(OLD_ONES, old.length) }, () => {
        return old[pick(old.length)] ?? ''
      })
      const values = [...new Set([...recent.splice(0), ...again, ...live.keys()])]
      for (let from = 0; from < values.length; from += AT_ONCE) {
        const part = values.slice(from, from + AT_ONCE)
        const wasLive = new Set(part.filter((value) => live.has(value)))
        const keys = part.map((key) => ({ key }))
        const answer = await api.ask('POST', '/v1/keys/verify', { keys })
        const verdicts = answer['data'] as readonly Json[]
        reread()
        // What somebody began to end meanwhile may be either.
        const ending = new Set(open.flatMap(ends))
        for (const [index, value] of part.entries()) {
          const valid = verdicts[index]?.['valid']
          const said = `${value.slice(0, 20)} is ${JSON.stringify(verdicts[index])}`
          if (!wasLive.has(value)) {
            ledger.check('keys.ended', valid === false, () => `${said}: ${dead.get(value)}`)
          } else if (live.has(value) && !ending.has(value)) {
            ledger.check('keys.kept', valid === true, () => `${said}: ${live.get(value)}`)
          }
        }
      }
    },
    async names() {
      const found = new Map<string, number>()
      for (const key of await api.list('/v1/keys?status=all')) {
        const name = String(key['name'])
        found.set(name, (found.get(name) ?? 0) + 1)
      }
      for (const [name, id] of names) {
        ledger.check('admin.once', found.get(name) === 1, () => {
          return `key ${name} (${id}) is there ${found.get(name) ?? 0} times`
        })
      }
      names.clear()
    },
  }
}

import fc from 'fast-check'
import t from 'tap'
import type { KeyStore } from '../../lib/engine/ports.ts'
import type { Verifier } from '../../lib/engine/verifier.ts'
import type { Change, OwnChanges } from '../../lib/engine/changes.ts'
import { createChanges } from '../../lib/engine/changes.ts'
import { createVerifier } from '../../lib/engine/verifier.ts'
import { KeyhookError } from '../../lib/errors.ts'
import { hashToken, mintToken } from '../../lib/key/token.ts'
import { DEFAULT_KEY_PREFIX } from '../support/key-prefix.ts'
import type { KeySecret } from '../../lib/key/lifecycle.ts'
import type { KeyChain, KeyRecord } from '../../lib/key/record.ts'
import { readScopes } from '../../lib/scope/canonical.ts'
import type { VirtualClock } from '../support/clock.ts'
import { createClock, turn } from '../support/clock.ts'

const NOW = 1_800_000_000_000

/** A key's value, made of a number, so that each is itself again. */
function valueOf(seed: number): string {
  return mintToken(DEFAULT_KEY_PREFIX, (length) => new Uint8Array(length).fill(seed)).value
}

function secretOf(value: string, changes: Partial<KeySecret> = {}): KeySecret {
  const display = value.slice(0, 19)
  return {
    hash: hashToken(value),
    display,
    version: 1,
    created_at: 0,
    not_after: null,
    ...changes,
  }
}

function keyOf(id: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id,
    account_id: 'acme',
    name: id,
    scopes: readScopes('*:*'),
    pins: 'all',
    parent_id: null,
    depth: 0,
    expires_at: null,
    revoked_at: null,
    created_by: { type: 'user', id: 'u1' },
    created_at: 0,
    updated_at: 0,
    last_used_at: null,
    monthly_budget_micros: null,
    version: 1,
    secrets: [],
    ...changes,
  }
}

/** A store whose keys change under the test, and whose reads wait and fail on demand. */
class FakeStore implements KeyStore {
  readonly keys = new Map<string, KeyRecord>()
  readonly suspended = new Set<string>()
  reads = 0
  fault: Error | undefined
  /** What reads wait for after they saw the state. */
  held: Promise<unknown> = Promise.resolve()

  put(...keys: readonly KeyRecord[]): void {
    for (const key of keys) this.keys.set(key.id, key)
  }

  change(id: string, changes: Partial<KeyRecord>): void {
    this.put({ ...(this.keys.get(id) ?? keyOf(id)), ...changes })
  }

  async findChain(hash: string): Promise<KeyChain | undefined> {
    this.reads += 1
    const { fault, held } = this
    const found = this.#find(hash)
    await held
    if (fault !== undefined) throw fault
    return found
  }

  #find(hash: string): KeyChain | undefined {
    for (const key of this.keys.values()) {
      const secret = key.secrets.find((one) => one.hash === hash)
      if (secret === undefined) continue
      const { account_id: id } = key
      return { secret, chain: this.#line(key), account: { id, suspended: this.suspended.has(id) } }
    }
    return undefined
  }

  #line(key: KeyRecord): readonly KeyRecord[] {
    const parent = key.parent_id === null ? undefined : this.keys.get(key.parent_id)
    return parent === undefined ? [key] : [...this.#line(parent), key]
  }
}

interface World {
  readonly store: FakeStore
  readonly changes: OwnChanges
  readonly clock: VirtualClock
  readonly verifier: Verifier
  /** `ok`, or the code of the refusal. */
  outcome(value: string): Promise<string>
}

/** Root, child and grandchild, whose values are those of 1, 2 and 3; an unrelated key's is that of 9. */
function createWorld(maxEntries?: number): World {
  const store = new FakeStore()
  const clock = createClock(NOW)
  const changes = createChanges()
  const verifier = createVerifier({
    store,
    changes,
    clock,
    prefix: DEFAULT_KEY_PREFIX,
    ...(maxEntries === undefined ? {} : { maxEntries }),
  })
  store.put(
    keyOf('root', { secrets: [secretOf(valueOf(1))] }),
    keyOf('child', { parent_id: 'root', depth: 1, secrets: [secretOf(valueOf(2))] }),
    keyOf('grandchild', { parent_id: 'child', depth: 2, secrets: [secretOf(valueOf(3))] }),
    keyOf('other', { account_id: 'other', secrets: [secretOf(valueOf(9))] }),
  )
  const outcome: World['outcome'] = (value) =>
    verifier.verify(value).then(
      () => 'ok',
      (cause: unknown) => (cause instanceof KeyhookError ? cause.code : String(cause)),
    )
  return { store, changes, clock, verifier, outcome }
}

const LINE = [valueOf(1), valueOf(2), valueOf(3)] as const

await t.test(
  'whatever nobody holds is invalid_key, and what is malformed is not looked up',
  async (t) => {
    const { store, outcome } = createWorld()
    const [value] = LINE
    const flipped = value.slice(0, -1) + (value.endsWith('0') ? '1' : '0')
    for (const bad of ['', 'x', flipped, value.slice(0, -1), `${value}0`, value.toUpperCase()]) {
      t.equal(await outcome(bad), 'invalid_key', `case 52: ${bad}`)
    }
    t.equal(await outcome(value.replace('service_dk_', 'another_dk_')), 'invalid_key')
    t.equal(store.reads, 0)
    t.equal(await outcome(valueOf(77)), 'invalid_key', 'case 52: well-formed, and nobody holds it')
    t.equal(store.reads, 1)
    store.put(keyOf('late', { secrets: [secretOf(valueOf(77))] }))
    t.equal(await outcome(valueOf(77)), 'ok', 'that nobody held it is not remembered')
  },
)

await t.test('a value that was verified is verified again from memory', async (t) => {
  const { store, verifier } = createWorld()
  store.change('root', { scopes: readScopes('*:read keys:*'), expires_at: NOW + 50 })
  store.change('child', { scopes: readScopes('apps:* keys:write'), pins: new Set(['a1', 'a2']) })
  store.change('grandchild', { pins: new Set(['a2', 'a3']) })
  const verified = await verifier.verify(LINE[2])
  t.match(verified, { key: { id: 'grandchild' }, secret: 'current' })
  t.same(verified.authority, {
    scopes: ['apps:read', 'keys:write'],
    pins: new Set(['a2']),
    expires_at: NOW + 50,
  })
  t.same(await verifier.verify(LINE[2]), verified)
  t.equal(store.reads, 1)
})

await t.test('time ends a key that is remembered, at its very expiry', async (t) => {
  for (const link of ['root', 'child', 'grandchild']) {
    const { store, clock, outcome } = createWorld()
    store.change(link, { expires_at: NOW + 2 })
    t.equal(await outcome(LINE[2]), 'ok')
    await clock.advance(1)
    t.equal(await outcome(LINE[2]), 'ok', 'a millisecond before')
    await clock.advance(1)
    t.equal(await outcome(LINE[2]), 'key_expired', `cases 25, 30: expiry of the ${link}`)
    t.equal(store.reads, 1)
  }
})

await t.test('a refusal by the clock ends where the calendar is set back', async (t) => {
  const { store, clock, verifier, outcome } = createWorld()
  store.change('child', { expires_at: NOW + 2 })
  const verified = await verifier.verify(LINE[2])
  clock.set(2)
  t.equal(await outcome(LINE[2]), 'key_expired')
  t.equal(await outcome(LINE[1]), 'key_expired', 'one that was never seen before its end')
  verifier.takeUses()
  clock.set(-1)
  t.same(await verifier.verify(LINE[2]), verified)
  t.equal(await outcome(LINE[1]), 'ok')
  t.same(
    verifier
      .takeUses()
      .map(({ id }) => id)
      .sort(),
    ['child', 'grandchild'],
  )
  t.equal(store.reads, 4, 'nothing of what was refused was kept')
  t.same(await verifier.verify(LINE[2]), verified)
  t.equal(await outcome(LINE[1]), 'ok')
  t.equal(store.reads, 4)
})

await t.test(
  'of the values of a key the last two live, the older one until its grace ends',
  async (t) => {
    const { store, clock, verifier, outcome } = createWorld()
    const values = [valueOf(21), valueOf(22), valueOf(23)] as const
    store.put(
      keyOf('rotated', {
        version: 3,
        secrets: [
          secretOf(values[2], { version: 3 }),
          secretOf(values[1], { version: 2, not_after: NOW + 10 }),
          secretOf(values[0], { version: 1, not_after: NOW + 5 }),
        ],
      }),
    )
    t.match(await verifier.verify(values[2]), { secret: 'current', secret_version: 3 })
    t.match(await verifier.verify(values[1]), { secret: 'previous', secret_version: 2 })
    t.match(await verifier.verify(values[0]), { secret: 'previous', secret_version: 1 })
    await clock.advance(1)
    await verifier.verify(values[1])
    t.equal(verifier.lastUse('rotated'), NOW + 1, 'whichever value it was')
    await clock.advance(4)
    t.equal(await outcome(values[0]), 'key_rotated', 'case 34')
    t.match(await verifier.verify(values[1]), { secret: 'previous' })
    await clock.advance(5)
    t.equal(await outcome(values[1]), 'key_rotated')
    t.equal(await outcome(values[2]), 'ok')
  },
)

await t.test('a key is revoked with any ancestor, which takes precedence', async (t) => {
  for (const link of ['root', 'child', 'grandchild']) {
    const { store, changes, verifier, outcome } = createWorld()
    for (const value of LINE) await verifier.verify(value)
    store.change('child', { expires_at: NOW - 1 })
    store.change(link, { revoked_at: NOW })
    store.suspended.add('acme')
    void changes.emit({ kind: 'key', id: link })
    t.equal(await outcome(LINE[2]), 'key_revoked', `case 40: the ${link} was revoked`)
  }
})

await t.test('dropping a key drops what is below it and nothing else', async (t) => {
  const { store, changes, verifier } = createWorld()
  const all = [...LINE, valueOf(9)]
  for (const value of all) await verifier.verify(value)
  const readsAfter = async (drop: () => void): Promise<number> => {
    drop()
    store.reads = 0
    for (const value of all) await verifier.verify(value)
    return store.reads
  }
  const dropping = (id: string) => () => {
    void changes.emit({ kind: 'key', id: id })
  }
  t.equal(await readsAfter(dropping('nobody')), 0)
  t.equal(await readsAfter(dropping('grandchild')), 1)
  t.equal(await readsAfter(dropping('child')), 2)
  t.equal(await readsAfter(dropping('root')), 3)
  t.equal(
    await readsAfter(() => {
      void changes.emit({ kind: 'account', id: 'acme' })
    }),
    3,
  )
})

await t.test(
  'the suspension of an account is reported to holders once it is evicted',
  async (t) => {
    const { store, changes, outcome } = createWorld()
    t.equal(await outcome(LINE[1]), 'ok')
    store.suspended.add('acme')
    void changes.emit({ kind: 'account', id: 'acme' })
    t.equal(await outcome(LINE[1]), 'account_suspended')
    t.equal(await outcome(valueOf(9)), 'ok')
    store.suspended.delete('acme')
    void changes.emit({ kind: 'account', id: 'acme' })
    t.equal(await outcome(LINE[1]), 'ok')
  },
)

await t.test('case 45: a fill that a drop overtook is not kept', async (t) => {
  const overtaking: readonly (Change | 'all')[] = [
    { kind: 'key', id: 'root' },
    { kind: 'key', id: 'grandchild' },
    { kind: 'account', id: 'acme' },
    'all',
  ]
  for (const change of overtaking) {
    const { store, changes, outcome } = createWorld()
    let release = (): void => undefined
    store.held = new Promise<void>((resolve) => {
      release = resolve
    })
    const early = outcome(LINE[2])
    await turn()
    store.change('root', { revoked_at: NOW })
    void changes.emit(change)
    t.equal(store.reads, 1)
    release()
    t.equal(await early, 'ok', 'it began before the answer of who revoked')
    t.equal(await outcome(LINE[2]), 'key_revoked', JSON.stringify(change))
    t.equal(store.reads, 2)
  }
})

await t.test('no verification that starts after a drop sees what was before it', async () => {
  const steps = fc.array(fc.constantFrom('verify', 'change', 'land', 'land'), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const { store, changes, verifier } = createWorld()
      const landings: (() => void)[] = []
      const checks: Promise<void>[] = []
      let version = 0
      for (const step of plan) {
        if (step === 'verify') {
          const begun = version
          store.held = new Promise<void>((resolve) => landings.push(resolve))
          checks.push(
            verifier.verify(LINE[2]).then(({ key }) => {
              if (key.updated_at < begun) throw new Error(`${key.updated_at} after ${begun}`)
            }),
          )
        } else if (step === 'change') {
          version += 1
          store.change('grandchild', { updated_at: version })
          void changes.emit({ kind: 'key', id: 'root' })
        } else landings.shift()?.()
        await turn()
      }
      for (const land of landings) land()
      await Promise.all(checks)
    }),
  )
})

await t.test('a store that cannot answer makes it unavailable, never invalid', async (t) => {
  const { store, changes, outcome, verifier } = createWorld()
  store.fault = new Error('the disk is gone')
  await t.rejects(verifier.verify(LINE[0]), { code: 'unavailable', status: 503 })
  t.equal(await outcome(valueOf(77)), 'unavailable', 'nor for a value that nobody holds')
  store.fault = undefined
  t.equal(await outcome(LINE[0]), 'ok')
  store.fault = new Error('the disk is gone')
  t.equal(await outcome(LINE[0]), 'ok', 'what is remembered needs no store')
  void changes.emit({ kind: 'key', id: 'root' })
  t.equal(await outcome(LINE[0]), 'unavailable', 'nothing stale is served')
})

await t.test('the memory is bounded, and what it lets go is read again', async (t) => {
  const { store, changes, verifier } = createWorld(2)
  for (const value of LINE) await verifier.verify(value)
  t.equal(store.reads, 3)
  await verifier.verify(LINE[2])
  await verifier.verify(LINE[1])
  t.equal(store.reads, 3, 'the two youngest are kept')
  await verifier.verify(LINE[0])
  t.equal(store.reads, 4, 'the oldest was let go')
  store.change('root', { revoked_at: NOW })
  void changes.emit({ kind: 'key', id: 'root' })
  for (const value of LINE) await t.rejects(verifier.verify(value), { code: 'key_revoked' })
  t.equal(store.reads, 7)
})

await t.test(
  'a full cache keeps the value that is used, however long it has been there',
  async (t) => {
    const { store, changes, verifier } = createWorld(2)
    const [hot, ...others] = LINE
    await verifier.verify(hot)
    for (const value of [...others, ...others]) {
      await verifier.verify(value)
      t.ok(verifier.verifyCached(hot))
    }
    t.equal(store.reads, 5, 'the hot value is read once, each of the others every time')
    void changes.emit({ kind: 'key', id: 'child' })
    t.ok(verifier.verifyCached(hot))
    void changes.emit({ kind: 'key', id: 'root' })
    t.equal(verifier.verifyCached(hot), undefined, 'still found by its key')
  },
)

await t.test('uses are the latest of each key that passed, and are taken once', async (t) => {
  const { store, clock, verifier, outcome } = createWorld()
  await outcome(LINE[0])
  await clock.advance(5)
  await outcome(LINE[0])
  await outcome(LINE[1])
  await outcome(valueOf(77))
  store.change('other', { revoked_at: NOW })
  await outcome(valueOf(9))
  t.equal(verifier.lastUse('root'), NOW + 5)
  t.same(verifier.takeUses(), [
    { id: 'root', at: NOW + 5 },
    { id: 'child', at: NOW + 5 },
  ])
  t.equal(verifier.lastUse('root'), NOW + 5, 'while they are written')
  t.same(verifier.takeUses(), [])
  t.equal(verifier.lastUse('root'), undefined)
  t.equal(verifier.lastUse('other'), undefined, 'it was refused')
  await clock.advance(5)
  await outcome(LINE[0])
  t.same(verifier.takeUses(), [{ id: 'root', at: NOW + 10 }], 'of what was verified before')
})

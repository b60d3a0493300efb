import { createAcknowledgements } from '../../lib/engine/acknowledgements.ts'
import type { Change, Changes } from '../../lib/engine/changes.ts'
import type { Lease } from '../../lib/engine/lease.ts'
import type { KeyCaches } from '../../lib/engine/key-caches.ts'
import { createKeyCaches } from '../../lib/engine/key-caches.ts'
import { RENEW_EVERY, createLease } from '../../lib/engine/lease.ts'
import type { VerifiedKey, Verifier } from '../../lib/engine/verifier.ts'
import { createVerifier } from '../../lib/engine/verifier.ts'
import { hashToken, mintToken } from '../../lib/key/token.ts'
import type { KeyChain, KeyRecord } from '../../lib/key/record.ts'
import { readScopes } from '../../lib/scope/canonical.ts'
import type { Millis } from '../../lib/time.ts'
import type { AuthorityDatabase, Defects, Notification } from './authority-database.ts'
import { createAuthorityDatabase } from './authority-database.ts'
import type { RemoteDefects } from './remote-cache.ts'
import { createRemoteCache } from './remote-cache.ts'
import type { Machine, World } from './world.ts'
import { createMachine, createWorld } from './world.ts'

/** What one run of processes that share keys showed. */
export interface AuthorityRun {
  readonly changes: number
  readonly verifications: number
  /** Of those, how many needed no question. */
  readonly hits: number
  /** Of those, how many a cache outside of the processes answered. */
  readonly remoteHits: number
  /** How long each change took until it was answered. */
  readonly took: readonly Millis[]
  /** Verifications that went by an older state than was answered before they began. */
  readonly stale: readonly string[]
}

interface ProcessDefects extends RemoteDefects {
  /** Whoever changes something is answered without waiting for the others. */
  readonly answersAtOnce?: boolean
  /** Whoever changes something is answered without waiting for caches outside of the processes. */
  readonly leavesRemote?: boolean
  /** What was kept is used again when a lease that had ended is regained. */
  readonly forgetsNothing?: boolean
}

/** Changes for which nobody waits, and of which some are not told. */
const toldWhere = (changes: Changes, isTold: (change: Change | 'all') => boolean): Changes => ({
  isCurrent: () => changes.isCurrent(),
  remaining: () => changes.remaining(),
  listen(listener) {
    changes.listen((change) => {
      if (isTold(change)) void listener(change)
    })
  },
})

interface Key {
  readonly id: string
  readonly value: string
  readonly hash: string
}

interface Process {
  readonly id: string
  readonly machine: Machine
  readonly verifier: Verifier
  readonly keyCaches: KeyCaches
  readonly change: (key: string) => Promise<number>
}

/** Whoever verifies keys: a process, or a cache outside of it. */
interface Reader {
  readonly id: string
  readonly machine: Machine
  verify(value: string): Promise<VerifiedKey>
}

const PREFIX = 'service_dk_'
const ACCOUNT = 'acc_1'
const LASTS: Millis = 12_000
const KEYS = 12

/** @param defects what is made wrong on purpose, to see that it is found */
export async function simulateAuthority(
  seed: string,
  defects: Defects & ProcessDefects & { readonly loses?: number } = {},
): Promise<AuthorityRun> {
  const world = createWorld(seed)
  const { random } = world
  world.faults = { lost: defects.loses ?? 100, crash: 0 }
  const database = createAuthorityDatabase(world, defects)
  const keys = Array.from({ length: KEYS }, (_, index) => createKey(`key_${index}`, index + 1))
  let reads = 0
  /** Some answers take long, so that changes overtake what was read. */
  const findChain = async (hash: string): Promise<KeyChain | undefined> => {
    reads += 1
    const key = keys.find((one) => one.hash === hash)
    const read = key && chainOf(key, database.versionOf(key.id))
    const delay = random.oneIn(50) ? random.below(3000) : 0
    return new Promise((resolve) => {
      world.after(delay, () => {
        resolve(read)
      })
    })
  }
  const processes = ['a', 'b', 'c'].map((id) =>
    createProcess(world, database, id, findChain, defects),
  )
  const answered = new Map<string, number>()
  const stale: string[] = []
  const took: Millis[] = []
  let verifications = 0

  function verify(reader: Reader): void {
    const { id, machine } = reader
    const key = random.pickAny(keys)
    machine.after(2 + random.below(12), () => {
      verify(reader)
    })
    if (key === undefined) return
    const least = answered.get(key.id) ?? 0
    const began = world.now()
    verifications += 1
    reader.verify(key.value).then(
      ({ key: { version } }) => {
        if (version - 1 < least) stale.push(`${id} ${key.id} ${version - 1} < ${least} at ${began}`)
      },
      () => undefined,
    )
  }

  function changeSomething(): void {
    world.after(100 + random.below(300), changeSomething)
    const process = random.pickAny(processes)
    const key = random.pickAny(keys)
    if (process === undefined || key === undefined) return
    const began = world.now()
    process.change(key.id).then(
      (version) => {
        took.push(world.now() - began)
        answered.set(key.id, Math.max(version, answered.get(key.id) ?? 0))
      },
      () => undefined,
    )
  }

  // The last process serves none, so that changes wait for caches of others too.
  const remote = processes
    .slice(0, 2)
    .map((process) => createRemoteCache(world, `cache of ${process.id}`, process, defects))
  for (const { id, machine, verifier } of processes) {
    verify({ id, machine, verify: (value) => verifier.verify(value) })
  }
  for (const cache of remote) verify(cache)
  changeSomething()
  for (const { machine } of [...processes, ...remote]) disturb(world, machine)
  await world.until(world.now() + LASTS)
  const remoteHits = remote.reduce((sum, cache) => sum + cache.hits(), 0)
  return {
    changes: took.length,
    verifications,
    hits: verifications - reads,
    remoteHits,
    took,
    stale,
  }
}

/** One of six is cut off for a while, one of nine is stopped. */
function disturb(world: World, machine: Machine): void {
  const { random } = world
  if (random.oneIn(6)) {
    world.after(random.below(6000), () => {
      machine.cutOffFor(random.below(5000))
    })
  }
  if (random.oneIn(9)) {
    world.after(random.below(6000), () => {
      machine.stopFor(random.below(4000))
    })
  }
}

function createProcess(
  world: World,
  database: AuthorityDatabase,
  id: string,
  findChain: (hash: string) => Promise<KeyChain | undefined>,
  { answersAtOnce = false, forgetsNothing = false, leavesRemote = false }: ProcessDefects,
): Process {
  const machine = createMachine(world, 1 + (world.random.below(100) - 50) / 10_000)
  const lease = createLease(
    {
      renew: (state) => machine.ask(() => database.renew(id, state)),
      acknowledge: (seq) =>
        machine.ask(() => {
          database.acknowledge(id, seq)
        }),
    },
    machine.clock,
  )
  const acknowledgements = createAcknowledgements(
    (ids) => machine.ask(() => database.appliedBy(ids)),
    machine.after,
  )
  database.listen((notification) => {
    machine.tell(() => {
      receive(notification)
    })
  })
  function receive(notification: Notification): void {
    if ('known' in notification) acknowledgements.record(notification.id, notification.known)
    else void lease.renew().catch(() => undefined)
  }
  keepRenewing(machine, lease)
  const { clock } = machine
  const verifier = createVerifier({
    store: { findChain: (hash) => machine.ask(() => findChain(hash)) },
    changes: forgetsNothing
      ? toldWhere(lease.changes, (change) => change !== 'all')
      : lease.changes,
    clock,
    prefix: PREFIX,
  })
  let caches = 0
  const keyCaches = createKeyCaches({
    changes: leavesRemote ? toldWhere(lease.changes, () => true) : lease.changes,
    clock,
    newId: () => `${id}-${(caches += 1)}`,
  })
  return {
    id,
    machine,
    verifier,
    keyCaches,
    async change(key) {
      const { seq, version, holders } = await machine.ask(() => database.change(id, key))
      const passed = lease.changes.emit({ kind: 'key', id: key, account_id: ACCOUNT })
      if (!answersAtOnce) await Promise.all([acknowledgements.wait(seq, holders), passed])
      return version
    },
  }
}

function keepRenewing(machine: Machine, lease: Lease): void {
  void lease.renew().catch(() => undefined)
  machine.after(RENEW_EVERY, () => {
    keepRenewing(machine, lease)
  })
}

function createKey(id: string, number: number): Key {
  const { value } = mintToken(PREFIX, (length) => new Uint8Array(length).fill(number))
  return { id, value, hash: hashToken(value) }
}

/** A key's record whose version counts its changes from 1. */
function chainOf({ id, hash }: Key, changes: number): KeyChain {
  const secret = { hash, display: '', version: changes + 1, created_at: 0, not_after: null }
  const key: KeyRecord = {
    id,
    account_id: ACCOUNT,
    parent_id: null,
    depth: 0,
    name: id,
    scopes: readScopes('*:*'),
    pins: 'all',
    expires_at: null,
    revoked_at: null,
    created_by: { type: 'operator', id: null },
    created_at: 0,
    updated_at: 0,
    last_used_at: null,
    monthly_budget_micros: null,
    version: changes + 1,
    secrets: [secret],
  }
  return { secret, chain: [key], account: { id: ACCOUNT, suspended: false } }
}

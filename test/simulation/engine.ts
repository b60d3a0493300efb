import type { Engine } from '../../lib/engine/engine.ts'
import { createEngine } from '../../lib/engine/engine.ts'
import { createKeyring } from '../../lib/engine/keyring.ts'
import type { EngineStore, NewEvent } from '../../lib/engine/ports.ts'
import { createUuid7 } from '../../lib/internal/uuid7.ts'
import { MINUTE, SECOND } from '../../lib/time.ts'
import { brandNames } from '../../lib/webhook/headers.ts'
import type { WebhookRecord } from '../../lib/webhook/record.ts'
import type { Store } from '../../plugins/store/contract.ts'
import { createMemoryStore } from '../../plugins/store/memory.ts'
import { plainWebhook } from '../support/engine.ts'
import { checkRun } from './invariants.ts'
import type { Manner, Receivers } from './receivers.ts'
import { createReceivers } from './receivers.ts'
import type { Server } from './server.ts'
import { createServer } from './server.ts'
import type { Machine, World } from './world.ts'
import { createMachine, createWorld } from './world.ts'

/** What one run of engines that share a store showed. */
export interface EngineRun {
  readonly events: number
  readonly arrivals: number
  readonly crashes: number
  readonly twice: number
  /** What must not be. */
  readonly violations: readonly string[]
}

/** Defects that a simulation must be able to find. */
export interface EngineDefects {
  /** An outcome is recorded whoever holds the claim. */
  readonly settlesLate?: boolean
  /** A publish is answered though its commit was lost. */
  readonly answersEarly?: boolean
  /** What a process had claimed when it died is claimed by nobody. */
  readonly leasesForever?: boolean
}

/** What a publisher knows of its events. */
export interface Published {
  readonly acknowledged: Map<string, NewEvent>
  readonly tried: Map<string, NewEvent>
}

const ACCOUNT = 'acc_1'
const TYPE = 'order.paid'
const TIMEOUT = 2 * SECOND
const LEASE = 4 * SECOND
const TROUBLE = 20 * SECOND
/** Longer than every lease, park and retry that trouble may have left. */
const QUIET = 30 * MINUTE
const MANNERS: readonly [Manner, ...Manner[]] = ['well', 'well', 'badly at first', 'never well']

export async function simulateEngine(
  seed: string,
  defects: EngineDefects = {},
): Promise<EngineRun> {
  const world = createWorld(seed)
  const { random } = world
  const store = createMemoryStore()
  const server = createServer(world, store)
  const scene = createScene(world, store, server)
  const published: Published = { acknowledged: new Map(), tried: new Map() }
  const count = 1 + random.below(3)
  let crashes = 0
  let isTroubled = true

  /** A process that dies is started again after a while. */
  function runProcess(index: number, life: number): void {
    const machine = createMachine(world)
    const engine = scene.createEngineOn(machine, `p${index}-${life}`, defects)
    startSending(machine, engine)
    keepLooking(machine, engine)
    publishNowAndThen(machine, engine)
    if (random.oneIn(3)) {
      machine.after(random.below(15_000), () => {
        machine.stopFor(random.below(8000))
      })
    }
    const watch = (): void => {
      if (machine.isAlive) world.after(100, watch)
      else {
        crashes += 1
        world.after(100 + random.below(2000), () => {
          runProcess(index, life + 1)
        })
      }
    }
    watch()
  }

  function publishNowAndThen(machine: Machine, engine: Engine): void {
    machine.after(20 + random.below(300), () => {
      if (!isTroubled) return
      publishNowAndThen(machine, engine)
      const events = Array.from({ length: 1 + random.below(3) }, () =>
        engine.newEvent(ACCOUNT, TYPE, { n: random.below(1000) }),
      )
      for (const event of events) published.tried.set(event.id, event)
      engine.outbox.publish(events).then(
        () => {
          for (const event of events) published.acknowledged.set(event.id, event)
        },
        () => undefined,
      )
    })
  }

  function crashServerNowAndThen(): void {
    world.after(SECOND + random.below(8000), () => {
      if (!isTroubled) return
      server.crash()
      crashServerNowAndThen()
    })
  }

  await scene.prepare()
  if (random.oneIn(3)) crashServerNowAndThen()
  world.faults = { lost: 40, crash: 400 }
  for (let index = 0; index < count; index += 1) runProcess(index, 0)
  await world.until(world.now() + TROUBLE)
  isTroubled = false
  world.faults = { lost: 0, crash: 0 }
  await world.until(world.now() + QUIET)
  const { arrivals } = scene.receivers
  const { violations, twice } = await checkRun({ store, published, crashes, ...scene })
  return {
    events: published.acknowledged.size,
    arrivals: arrivals.length,
    crashes,
    twice,
    violations,
  }
}

/** A daemon that cannot read its work ends, and is started again. */
function startSending(machine: Machine, engine: Engine): void {
  engine.dispatcher.start().catch(() => {
    machine.after(SECOND, () => {
      startSending(machine, engine)
    })
  })
}

/** Polls for work without a notification, as the daemon does. */
function keepLooking(machine: Machine, engine: Engine): void {
  machine.after(5 * SECOND, () => {
    keepLooking(machine, engine)
    engine.dispatcher.refresh().catch(() => undefined)
  })
}

export interface Scene {
  readonly webhooks: readonly WebhookRecord[]
  readonly receivers: Receivers
  mannerOf(url: string): Manner
}

interface Stage extends Scene {
  prepare(): Promise<void>
  createEngineOn(machine: Machine, id: string, defects: EngineDefects): Engine
}

function createScene(world: World, store: Store, server: Server): Stage {
  const { random } = world
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.below(256))
  const keyring = createKeyring([{ id: 'k1', key: new Uint8Array(32).fill(7) }], bytes)
  const newId = createUuid7(() => Math.floor(world.now()), bytes)
  const manners = new Map<string, Manner>()
  const webhooks = Array.from({ length: 1 + random.below(4) }, (_, index): WebhookRecord => {
    const url = `https://r${index}.test/`
    manners.set(url, random.pick(MANNERS))
    const concurrency = random.oneIn(3) ? 1 + random.below(3) : null
    return { ...plainWebhook(newId, keyring, bytes), url, concurrency }
  })
  const mannerOf = (url: string): Manner => manners.get(url) ?? 'well'
  const receivers = createReceivers(world, mannerOf)
  return {
    webhooks,
    receivers,
    mannerOf,
    async prepare() {
      await store.write(async (tx) => {
        for (const webhook of webhooks) await tx.webhooks.insert(webhook)
      })
    },
    createEngineOn: (machine, id, defects) =>
      createEngine({
        store: overNetwork({ store, server, machine, claimant: id }, defects),
        sender: receivers.senderOf(machine),
        clock: machine.clock,
        random: bytes,
        newId,
        keyring,
        names: brandNames('service'),
        schedule: [SECOND, 2 * SECOND, 4 * SECOND],
        disabling: { failures: 1_000_000, span: 0 },
        limits: { total: 8, perWebhook: 4 },
        timeout: TIMEOUT,
        lease: LEASE,
      }),
  }
}

interface Link {
  readonly store: Store
  readonly server: Server
  readonly machine: Machine
  readonly claimant: string
}

/** The store as one process has it: every verb is a question that may be lost on either way. */
function overNetwork(
  { store, server, machine, claimant }: Link,
  { settlesLate, answersEarly, leasesForever }: EngineDefects,
): EngineStore {
  const ask = <T>(carryOut: () => Promise<T>): Promise<T> =>
    machine.ask(() => server.serve(carryOut))
  return {
    changes: store.changes,
    claimant,
    write: (work) => ask(() => store.write(work)),
    async publish(build) {
      const group = build()
      const asked = ask(() => store.publish(() => group))
      return answersEarly === true ? asked.catch(() => group.map(() => 'stored' as const)) : asked
    },
    webhooksOf: (accountId) => ask(() => store.webhooksOf(accountId)),
    // Whoever died is not known to be gone: leases alone give back what it held.
    recover: async () => 0,
    queueHeads: (ids) => ask(() => store.queueHeads(ids)),
    claim: (build) =>
      ask(async () => {
        const claimed = await store.claim(
          leasesForever === true ? () => ({ ...build(), lease_until: 1e15 }) : build,
        )
        server.claimed(
          claimed.map(({ delivery: { id, claim } }) => ({ delivery_id: id, claim: claim ?? '' })),
        )
        return claimed
      }),
    release: (claims, now) => ask(() => store.release(claims, now)),
    disclaim: (claim, now) => ask(() => store.disclaim(claim, now)),
    settle: (attempts) =>
      ask(async () => {
        if (settlesLate !== true) return store.settle(attempts)
        const taken = await Promise.all(attempts.map((one) => asHolder(store, one)))
        return store.settle(taken)
      }),
  }
}

/** An outcome under whatever claim its delivery bears by now. */
async function asHolder<T extends { readonly delivery_id: string; readonly webhook_id: string }>(
  store: Store,
  settled: T,
): Promise<T> {
  const { delivery_id, webhook_id } = settled
  const inspected = await store.deliveries.get(ACCOUNT, webhook_id, delivery_id)
  return { ...settled, claim: inspected?.delivery.claim ?? '' }
}

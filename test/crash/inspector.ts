import type { SeededRandom } from '../support/seeded-random.ts'
import type { Api } from './api.ts'
import type { ShownDelivery } from './checks/deliveries.ts'
import { checkDelivery, checkFanout, createSeenStates, undone } from './checks/deliveries.ts'
import { createFeedCheck } from './checks/feed.ts'
import { createKeyCheck } from './checks/keys.ts'
import type { Times } from './checks/schedule.ts'
import { checkSchedule } from './checks/schedule.ts'
import type { Jumping } from './checks/settled.ts'
import { untilSettled } from './checks/settled.ts'
import type { Secret } from './checks/webhooks.ts'
import { checkSignature, checkSilence, secretsOver } from './checks/webhooks.ts'
import type { Span } from './clock/timeline.ts'
import type { CrashDatabase } from './database.ts'
import type { DriverLine, Webhook } from './facts.ts'
import { LEASE } from './facts.ts'
import { createHistory } from './history.ts'
import { followJournal } from './journal.ts'
import type { Ledger } from './ledger.ts'
import type { Arrival } from './receiver.ts'

export interface FixtureWebhook extends Webhook {
  readonly secret: string
}

export interface InspectorOptions {
  readonly api: Api
  readonly database: CrashDatabase
  readonly ledger: Ledger
  readonly webhooks: readonly FixtureWebhook[]
  readonly random: SeededRandom
  readonly journals: { readonly driver: string; readonly receiver: string }
  readonly times: Times
  /** Undefined for a clock that does not. */
  readonly jumping: Jumping | undefined
  /** How often each delivery was claimed and not recorded when a daemon died. */
  readonly inFlight: ReadonlyMap<string, number>
  readonly serverCrashes: readonly Span[]
}

/** Holds what the API, the database and the journals say against each other. */
export interface Inspector {
  /** What can be said while the load goes on. */
  afterRestart(): Promise<void>
  /** What can be said of a chapter once its load has stopped and all of it is final. */
  atQuiesce(): Promise<void>
  /** Everything once more: what was final has stayed so. */
  atEnd(): Promise<void>
  readonly totals: Totals
}

export interface Totals {
  events: number
  deliveries: number
  arrivals: number
  repeated: number
  /** By how many milliseconds each retry came late. */
  readonly late: number[]
  /** Attempts whose times are not judged. */
  unplaced: number
}

/** How long an event may stay out of the feed while a transaction older than it runs. */
const FEED_GRACE = { sqlite: 0, postgres: 10_000 }
/**
 * How long a delivery may outlive its webhook under one claim. On PostgreSQL it may be born while that is
 * deleted: then it is canceled before it is sent, when its claim ends at the latest. Whoever takes it over
 * then may be killed in turn, and holds it by a claim of its own.
 */
const ORPHANED = { sqlite: 0, postgres: LEASE + 4000 }

export function createInspector(options: InspectorOptions): Inspector {
  const { api, database, ledger, webhooks, random, times, jumping } = options
  const { inFlight, serverCrashes } = options
  const history = createHistory(webhooks)
  const driver = followJournal<DriverLine>(options.journals.driver)
  const receiver = followJournal<Arrival>(options.journals.receiver)
  const feed = createFeedCheck(api, history, ledger)
  const keys = createKeyCheck(api, ledger)
  const states = createSeenStates()
  const totals: Totals = {
    events: 0,
    deliveries: 0,
    arrivals: 0,
    repeated: 0,
    late: [],
    unplaced: 0,
  }
  /** By when they were first seen. */
  const orphans = new Map<string, number>()
  /** Of earlier chapters, where the clock jumps. */
  const earlier = new Set<string>()
  let chapterFrom = 0
  let chapterArrivals: Arrival[] = []

  function reread(): void {
    const arrivals = receiver.next()
    history.add(arrivals, driver.next())
    keys.note(history.keys)
    for (const { op, at, status } of history.takeTries()) {
      ledger.check('answers.honest', status !== 500, () => `op ${op} was answered 500 at ${at}`)
    }
    for (const { call, end } of history.takeEnded()) {
      ledger.check('accepted.clean', end?.outcome !== 'fail', () => {
        return `op ${call.op}, ${JSON.stringify(call.intent)}: ${end?.status} ${end?.code}`
      })
    }
    for (const arrival of history.takeFresh()) {
      totals.arrivals++
      chapterArrivals.push(arrival)
      checkSilence(arrival, history, ledger)
      const finalAt = states.finalAt(arrival.delivery)
      ledger.check('final.stays', finalAt === undefined || arrival.at < finalAt, () => {
        return `${arrival.delivery} was final at ${finalAt} and arrived again at ${arrival.at}`
      })
    }
  }

  async function checkFile(): Promise<void> {
    const found = await database.orphans()
    const now = Date.now()
    const before = new Map(orphans)
    orphans.clear()
    for (const orphan of found) orphans.set(orphan, before.get(orphan) ?? now)
    const old = found.filter((one) => now - (orphans.get(one) ?? now) >= ORPHANED[database.name])
    ledger.check('orphans.none', old.length === 0, () => old.join('; '))
  }

  async function list(
    webhook: Webhook,
    enough?: (page: readonly ShownDelivery[]) => boolean,
  ): Promise<readonly ShownDelivery[]> {
    const path = `/v1/webhooks/${webhook.id}/deliveries`
    const found = await api.list(
      path,
      enough && ((page) => enough(page as unknown as ShownDelivery[])),
    )
    return found as unknown as ShownDelivery[]
  }

  async function checkWebhook(
    webhook: FixtureWebhook,
    events: ReturnType<typeof feed.take>,
  ): Promise<void> {
    const isBefore = ({ id, created_at }: ShownDelivery): boolean =>
      jumping === undefined ? Date.parse(created_at) < chapterFrom : earlier.has(id)
    // By a clock that jumps what is newest is not what came last.
    const found = await list(webhook, (page) => jumping === undefined && page.some(isBefore))
    const deliveries = found.filter((one) => !isBefore(one))
    if (jumping !== undefined) for (const { id } of deliveries) earlier.add(id)
    totals.deliveries += deliveries.length
    checkFanout(webhook, events, deliveries, ledger)
    for (const delivery of deliveries) {
      const came = history.arrivals.get(delivery.id) ?? []
      if (came.length > delivery.attempts.length) totals.repeated++
      const claimed = inFlight.get(delivery.id) ?? 0
      checkDelivery(webhook, delivery, came, claimed + undone(came, serverCrashes), ledger)
      // Where processes share a database, claims of the dead are given back once it is sure that they are.
      const orphaned = database.name === 'postgres' ? claimed : 0
      const { late, unplaced } = checkSchedule(delivery, came, times, orphaned, ledger)
      for (const one of late) totals.late.push(one)
      totals.unplaced += unplaced
      states.look(delivery, ledger)
    }
  }

  function secretsAt(id: string): readonly Secret[] {
    const fixture = webhooks.find((one) => one.id === id)
    return secretsOver(history.ofWebhook.get(id) ?? [], fixture?.secret, times.timeline)
  }

  function checkBodies(): void {
    const bodies = new Map<string, Pick<Arrival, 'hash' | 'body'>>()
    for (const arrival of chapterArrivals) {
      const { event, hash, body } = arrival
      const known = bodies.get(event)
      if (known === undefined) bodies.set(event, { hash, body })
      ledger.check('duplicates.same', known === undefined || known.hash === hash, () => {
        return `${event} was sent as other bytes to ${arrival.path} (${arrival.delivery})`
      })
    }
    const secrets = new Map<string, readonly Secret[]>()
    for (const arrival of chapterArrivals) {
      const id = history.webhookAt.get(arrival.path) ?? ''
      const known = secrets.get(id) ?? secretsAt(id)
      secrets.set(id, known)
      const body = bodies.get(arrival.event)?.body
      if (body !== undefined) checkSignature(arrival, body, known, times.timeline, ledger)
    }
  }

  async function checkCreations(): Promise<void> {
    const found = new Map<string, number>()
    for (const webhook of await api.list('/v1/webhooks')) {
      const path = new URL(String(webhook['url'])).pathname
      found.set(path, (found.get(path) ?? 0) + 1)
    }
    for (const [path, id] of history.webhookAt) {
      const operations = history.ofWebhook.get(id) ?? []
      const isDeleted = operations.some(({ call }) => call.intent.kind === 'webhook.delete')
      const count = found.get(path) ?? 0
      ledger.check('admin.once', count === (isDeleted ? 0 : 1), () => {
        return `the webhook at ${path} (${id}) is there ${count} times`
      })
    }
    await keys.names()
  }

  return {
    totals,
    async afterRestart() {
      reread()
      await feed.run(FEED_GRACE[database.name])
      await keys.run(reread, random.below)
      await checkFile()
      const some = random.pickAny(webhooks)
      if (some === undefined) return
      for (const delivery of await list(some, () => true)) states.look(delivery, ledger)
    },
    async atQuiesce() {
      await untilSettled(database, ledger, jumping)
      reread()
      await feed.run(0)
      await keys.run(reread, random.below)
      await checkFile()
      const events = feed.take()
      totals.events += events.length
      for (const webhook of webhooks) await checkWebhook(webhook, events)
      checkBodies()
      await checkCreations()
      chapterArrivals = []
      history.arrivals.clear()
      chapterFrom = Date.now()
    },
    async atEnd() {
      for (const webhook of webhooks) {
        for (const delivery of await list(webhook)) states.look(delivery, ledger)
      }
      reread()
      const faults = await database.faults()
      if (database.name === 'sqlite') {
        ledger.check('file.whole', faults.length === 0, () => faults.join('; '))
      }
      driver.close()
      receiver.close()
    },
  }
}

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Millis } from '../../lib/time.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import type { Api } from './api.ts'
import { createApi } from './api.ts'
import type { Jumper, Jumps } from './clock/jumps.ts'
import { createJumper, planJumps } from './clock/jumps.ts'
import { jumpingOf } from './clock/pass.ts'
import { RIGHT } from './clock/timeline.ts'
import { createWrongClock } from './clock/wrong.ts'
import { openCrashDatabase } from './database.ts'
import type { Dying, Tally } from './deaths.ts'
import { AT_ONCE, count, createTally, dieAsPlanned, serve } from './deaths.ts'
import type { DriverOrders } from './facts.ts'
import { FIXTURES } from './facts.ts'
import type { FixtureWebhook, Inspector, Totals } from './inspector.ts'
import { createInspector } from './inspector.ts'
import type { Ledger } from './ledger.ts'
import { INVARIANTS, createLedger } from './ledger.ts'
import { MUTANTS } from './mutants.ts'
import type { Plan, PlanOptions, Planned } from './plan.ts'
import { makePlan } from './plan.ts'
import type { Supervisor } from './supervisor.ts'
import { createSupervisor, startRole } from './supervisor.ts'

export interface RunOptions extends PlanOptions {
  readonly seed: string
  readonly mutant: string | undefined
  /** How many share the database; one of them dies. */
  readonly daemons: number
  /** Kills between two pauses in which everything is checked. */
  readonly chapter: number
  /** How late a retry may be. */
  readonly late: Millis
  /** How often the clock of the daemons jumps. */
  readonly jumps: number
  /** Told of every kill. */
  readonly progress: (line: string) => void
}

export interface RunResult {
  readonly folder: string
  readonly kills: Readonly<Record<Planned['by'], number>>
  /** `name:nth` */
  readonly reached: readonly string[]
  readonly missed: readonly string[]
  readonly ledger: Ledger
  readonly totals: Totals
  readonly jumps: Jumps | undefined
  readonly seconds: number
}

/** Runs daemon, driver and receiver through every planned kill, as long as every invariant holds. */
export async function runCrash(options: RunOptions): Promise<RunResult> {
  const started = Date.now()
  const folder = await mkdtemp(join(tmpdir(), `keyhook-crash-${options.database}-`))
  await mkdir(join(folder, 'data'), { mode: 0o700 })
  const database = await openCrashDatabase(options.database, folder)
  const ledger = createLedger(INVARIANTS)
  const random = createSeededRandom(options.seed)
  const plan = makePlan(options, random)
  const clock = options.jumps > 0 ? createWrongClock(join(folder, 'clock')) : undefined
  const supervisor = await createSupervisor({
    folder,
    database,
    mutant: options.mutant,
    daemons: options.daemons,
    clock: clock?.file,
  })
  const ofClock = createSeededRandom(`${options.seed} clock`)
  const jumps = planJumps(options.jumps, plan.after.length, ofClock)
  const jumper = clock && createJumper(clock, jumps, ofClock, supervisor)
  const journals = {
    driver: join(folder, 'driver.jsonl'),
    receiver: join(folder, 'receiver.jsonl'),
  }
  const receiver = await startRole('receiver', journals.receiver)
  const driver = await startRole('driver')
  const ending = (): void => {
    receiver.child.kill('SIGKILL')
    driver.child.kill('SIGKILL')
  }
  process.once('exit', ending)
  try {
    const port = await receiver.say<number>(undefined)
    const tally = createTally()
    await dieWhileMade(supervisor, plan, tally, options)
    await serve(supervisor)
    await supervisor.startOthers()
    const orders = await furnish(supervisor, `http://127.0.0.1:${port}`, options.seed, journals)
    const inspector = createInspector({
      api: createApi(supervisor.origins, supervisor.operator, orders.account),
      database,
      ledger,
      webhooks: orders.webhooks,
      random,
      journals,
      // On PostgreSQL everything is planned and shown by the server's clock.
      times: {
        timeline: database.name === 'sqlite' ? (clock?.timeline ?? RIGHT) : RIGHT,
        downtimes: supervisor.downtimes,
        late: options.late,
      },
      jumping: clock && database.name === 'sqlite' ? jumpingOf(clock, supervisor) : undefined,
      inFlight: supervisor.inFlight,
      serverCrashes: supervisor.serverCrashes,
    })
    await supervisor.die(AT_ONCE)
    await driver.say({ orders })
    const lost = new Promise<never>((_, reject) => {
      driver.child.once('exit', (code) => reject(new Error(`the driver ended with ${code}`)))
    })
    lost.catch(() => undefined)
    const work = killAndCheck({
      database,
      plan,
      supervisor,
      inspector,
      ledger,
      driver,
      tally,
      jumper,
      options,
      isSound: soundness(ledger, options.mutant),
    })
    await Promise.race([work, lost])
    return {
      folder,
      kills: tally.kills,
      reached: [...tally.reached],
      missed: [...tally.missed].filter((one) => !tally.reached.has(one)),
      ledger,
      totals: inspector.totals,
      jumps: clock && jumper && { ...jumper.tally, ...clock.furthest },
      seconds: (Date.now() - started) / 1000,
    }
  } finally {
    process.off('exit', ending)
    ending()
    await supervisor.close()
    await database.close()
    if (ledger.violations.length === 0) await rm(folder, { recursive: true, force: true })
  }
}

/** The failpoints of the first start, one after the other on one database. */
async function dieWhileMade(
  supervisor: Supervisor,
  { first }: Plan,
  tally: Tally,
  { progress }: RunOptions,
): Promise<void> {
  for (const { point, nth } of first) {
    const name = `${point.name}:${nth}`
    await supervisor.start(name)
    const { reached } = await supervisor.die({ after: 0, signal: 'SIGKILL' })
    count(tally, { by: 'failpoint', point, nth }, reached)
    progress(`${name}${reached === name ? '' : ' was not reached'}`)
  }
}

/** Declares the types, and makes the key and the webhooks that live as long as the run. */
async function furnish(
  { origins, operator }: Supervisor,
  receiver: string,
  seed: string,
  journals: { readonly driver: string },
): Promise<DriverOrders & { readonly webhooks: readonly FixtureWebhook[] }> {
  const [owner] = await createApi(origins, operator).list('/v1/accounts')
  const account = String(owner?.['id'])
  const api: Api = createApi(origins, operator, account)
  for (const type of ['crash.a', 'crash.b', 'crash.c']) {
    await api.ask('PUT', `/v1/event-types/${type}`)
  }
  const { key } = await api.ask('POST', '/v1/keys', { name: 'root', scopes: ['*:*'] })
  const webhooks: FixtureWebhook[] = []
  for (const { path, types, rate_limit } of FIXTURES) {
    const body = { url: `${receiver}${path}`, events: types, rate_limit }
    const { id, secret } = await api.ask('POST', '/v1/webhooks', body)
    webhooks.push({ id: String(id), path, types, secret: String(secret) })
  }
  return {
    origins,
    operator,
    account,
    key: String(key),
    receiver,
    webhooks,
    seed,
    journal: journals.driver,
  }
}

interface Killing extends Dying {
  readonly plan: Plan
  readonly inspector: Inspector
  readonly driver: Awaited<ReturnType<typeof startRole>>
  readonly jumper: Jumper | undefined
  readonly options: RunOptions
  /** Until it is not, the run goes on. */
  readonly isSound: () => boolean
}

/** Of what a mutant breaks, only what it is there for ends its run. */
function soundness({ rows, violations }: Ledger, mutant: string | undefined): () => boolean {
  const { breaks } = MUTANTS.find(({ name }) => name === mutant) ?? {}
  const sought = Object.entries(rows).find(([name]) => name === breaks)?.[1]
  return () => (sought?.violated ?? violations.length) === 0
}

async function killAndCheck(killing: Killing): Promise<void> {
  const { plan, supervisor, inspector, ledger, tally, jumper, options, isSound } = killing
  let checking: Promise<void> | undefined
  let failed: Error | undefined
  const left: Planned[] = [...plan.after]
  let done = 0
  for (let planned = left.shift(); planned !== undefined && isSound(); planned = left.shift()) {
    // Checks go on beside the load and across kills; one round ends before the next begins.
    checking ??= inspector
      .afterRestart()
      .catch((cause: unknown) => {
        failed ??= new Error('a check could not be made', { cause })
      })
      .then(() => {
        checking = undefined
      })
    const name = planned.by === 'failpoint' ? `${planned.point.name}:${planned.nth}` : planned.by
    const jump = jumper?.begin(done)
    const isHit = await dieAsPlanned(killing, planned)
    jump?.()
    // Load is random: what it did not pass once is tried once more.
    if (!isHit && !tally.again.has(name)) left.push(planned)
    if (!isHit) tally.again.add(name)
    done++
    options.progress(`${done}: ${name}${isHit ? '' : ' was not reached'}`)
    if (failed !== undefined && isSound()) throw failed
    if (done % options.chapter === 0 && left.length > 0) {
      await quiesce(killing, checking)
      await supervisor.die(AT_ONCE)
    }
  }
  await quiesce(killing, checking)
  ledger.check('daemon.lives', supervisor.lost.length === 0, () => supervisor.lost.join('; '))
  if (failed !== undefined && isSound()) throw failed
  if (isSound()) await inspector.atEnd()
}

/**
 * Between two kills: the load stops, everything becomes final and is checked. A clock that jumps is wrong
 * and right again under load, and once more without, in one life of the daemon.
 */
async function quiesce(
  { supervisor, driver, inspector, jumper, isSound }: Killing,
  checking: Promise<void> | undefined,
): Promise<void> {
  await serve(supervisor)
  await jumper?.stray()
  await driver.say('pause')
  await checking
  await jumper?.stray()
  if (isSound()) await inspector.atQuiesce()
  jumper?.right()
  await driver.say('resume')
}

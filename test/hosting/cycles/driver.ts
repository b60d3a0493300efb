import type { Api } from '../../crash/api.ts'
import type { Journal } from '../../crash/journal.ts'
import type { Json } from '../../crash/wire.ts'
import { rest, steady } from '../../fleet/steady.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { CyclesLedger } from './invariants.ts'
import { operationsFor, releaseOf } from './releases.ts'
import type { Timeline, Turn } from './timeline.ts'
import { WAYS, lookUntilOver } from './ways.ts'

/** Something that was asked for and how it ended. */
export interface Deed {
  readonly kind: 'publish' | 'rollback' | 'unpublish'
  readonly status: string
  /** From the request until it was seen to be over. */
  readonly took: number
}

export interface DriverOptions {
  /** Each daemon. */
  readonly apis: readonly [Api, ...Api[]]
  readonly app: string
  readonly timeline: Timeline
  readonly ledger: CyclesLedger
  readonly random: SeededRandom
  readonly journal: Journal
  /** The longest rest after something changed. */
  readonly pace: number
}

export interface Driver {
  /** Publishes the first release, and another, so that there is one to go back to. */
  begin(): Promise<void>
  /** Publishes a new revision and goes back, one way or the other. */
  cycle(): Promise<void>
  readonly deeds: readonly Deed[]
}

/** Tells of the source, and is kept from visitors. */
const UNSERVED = 'site.js.map'

export function createDriver(options: DriverOptions): Driver {
  const { apis, app, timeline, ledger, random, journal, pace } = options
  const at = `/v1/apps/${app}`
  const deeds: Deed[] = []
  let revision = 1
  let paths: readonly string[] = []

  const anyOf = (): Api => random.pick(apis)

  async function edit(operations: readonly object[]): Promise<void> {
    const body = { operations, base_revision: revision }
    const made = await anyOf().ask('POST', `${at}/edits`, body)
    revision = Number(made['result_revision'])
  }

  /** The next revision, whose number is in all of its files. */
  async function change(): Promise<void> {
    await edit(operationsFor(revision + 1, paths))
    paths = [...releaseOf(revision).keys()]
  }

  /** One of which nothing can be served. */
  async function empty(): Promise<void> {
    const { files } = (await anyOf().ask('GET', `${at}/tree`)) as { files?: { path: string }[] }
    const gone = (files ?? []).map(({ path }) => ({ op: 'delete', path }))
    await edit([...gone, { op: 'write', path: UNSERVED, content: `${revision}` }])
    paths = [UNSERVED]
  }

  function note(kind: Deed['kind'], turn: Turn, status: string, id: unknown): void {
    const { asked, content } = turn
    const now = steady()
    if (status === 'live' || status === 'unpublished') timeline.end(turn, now)
    else timeline.drop(turn)
    ledger.check('ends.soon', status !== 'late', () => `${kind} ${String(id)}`)
    deeds.push({ kind, status, took: now - asked })
    journal.write({ kind, status, id, content, asked, ended: now })
  }

  /** Asks for a deployment and sees to its end, as one who waits, looks, or is told of it. */
  async function deploy(
    kind: 'publish' | 'rollback',
    body: object,
    isCanceled = false,
  ): Promise<void> {
    const way = random.pick(WAYS)
    const turn = timeline.begin(kind === 'publish' ? revision : 0, steady())
    const asking = `${at}/deploy/${kind}${way.query}`
    const made = await anyOf().ask('POST', asking, body)
    const id = String(made['id'])
    turn.content = Number(made['revision'])
    const status = isCanceled ? await cancel(id) : await way.untilOver(anyOf, { at, id, made })
    note(kind, turn, status, id)
    await rest(random.below(pace))
  }

  async function cancel(id: string): Promise<string> {
    const path = `${at}/deployments/${id}`
    await anyOf()
      .ask('POST', `${path}/cancel`, {})
      .catch((cause: unknown) => {
        // It was too late for that.
        if (!String(cause).includes('deployment_finished')) throw cause
      })
    return lookUntilOver(anyOf, path)
  }

  async function unpublish(): Promise<void> {
    const turn = timeline.begin(null, steady())
    const { current_deployment_id: id } = await anyOf().ask('POST', `${at}/deploy/unpublish`, {})
    note('unpublish', turn, 'unpublished', id)
    await rest(random.below(pace))
  }

  /** An earlier release, other than what is live. */
  async function goBack(): Promise<void> {
    const { data } = await anyOf().ask('GET', `${at}/deployments?limit=15`)
    const back = (data as readonly Json[]).filter(({ available_actions: actions }) =>
      (actions as readonly string[]).includes('rollback'),
    )
    const chosen = random.oneIn(2) ? undefined : random.pickAny(back)
    await deploy('rollback', chosen === undefined ? {} : { deployment_id: chosen['id'] })
  }

  return {
    deeds,
    async begin() {
      for (let releases = 0; releases < 2; releases++) {
        await change()
        await deploy('publish', {})
      }
    },
    async cycle() {
      if (random.oneIn(15)) {
        await empty()
        await deploy('publish', {})
      }
      await change()
      if (random.oneIn(10)) {
        await deploy('publish', {}, true)
        await change()
      }
      await deploy('publish', {})
      if (random.oneIn(6)) {
        await unpublish()
        if (random.oneIn(2)) await deploy('publish', {})
      }
      await goBack()
    },
  }
}

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { namedByReleases } from '../../daemon/trees/releases.ts'
import { MINUTE } from '../../lib/time.ts'
import { DEPLOY_FAILPOINTS } from '../crash/deploy-failpoints.ts'
import type { Plan } from '../support/deploy-plans.ts'
import { PLANS } from '../support/deploy-plans.ts'
import type { DeployStage } from '../support/deploy-stage.ts'
import { setTheDeployStage } from '../support/deploy-stage.ts'
import { openLeftBehind, orphans } from '../support/left-behind.ts'
import { until } from '../support/daemon.ts'
import type { Row } from '../support/mortal-daemon.ts'
import { startPostgres } from '../support/postgres.ts'
import { sized } from '../support/soak.ts'

t.setTimeout(15 * MINUTE)
// Most of the time leases are waited for.
t.jobs = 4

/** Milliseconds from a request to a kill that nothing else decides. */
const MOMENTS = sized([10], [10], [10, 80])
/** Every so many failpoints of a kind the daemon is killed in one. */
const STRIDE = sized(5, 5, 1)

/** What one daemon is killed in, again and again, and whether also at moments that nothing decides. */
const STAGES = [
  { kinds: ['publish', 'bad publish'], atMoments: 'publish' },
  { kinds: ['rollback', 'unpublish'], atMoments: 'rollback' },
  { kinds: ['long publish', 'cancel building', 'cancel queued'], atMoments: undefined },
] as const

const TOLD: Readonly<Record<string, string>> = {
  publish: 'app.deployed',
  rollback: 'app.rolled_back',
  unpublish: 'app.unpublished',
  failed: 'app.deploy_failed',
  canceled: 'app.deploy_failed',
}

/** Where nobody knows yet, or not surely, that it was asked for. */
const UNSURE = /queue\.(before|in)_commit$|^unpublish\.(?!after_commit)|^a moment$/

/** Every deployment of every app has ended and was told of once, and each app has one that is live at most. */
async function requireEnds(t: Test, { daemon: { list } }: DeployStage, at: string): Promise<void> {
  const expected: string[] = []
  for (const { id: app } of await list('/v1/apps')) {
    const all = await list(
      `/v1/apps/${String(app)}/deployments?include=failed,canceled,in_progress`,
    )
    for (const { id, kind, status } of all) {
      expected.push(`${TOLD[String(status)] ?? TOLD[String(kind)]} ${String(id)}`)
    }
    const live = all.filter(({ status }) => status === 'live')
    if (live.length > 1) t.fail(`${at}: several are live`, { live })
  }
  const told = (await list('/v1/events')).flatMap(({ type, data }) => {
    const { deployment_id: id } = data as Row
    return typeof id === 'string' ? [`${String(type)} ${id}`] : []
  })
  t.same(told.toSorted(), expected.toSorted(), `${at}: each is told of once`)
}

/** Whether some of its release was made before it was canceled. */
const isCanceledHalfway = ({ status, progress }: Row): boolean =>
  status === 'canceled' && Number((progress as Row | null)?.['done'] ?? 0) > 0

/** Kills the daemon once where something is asked for, and looks at what became of it. */
async function killIn(
  t: Test,
  stage: DeployStage,
  at: string,
  plan: Plan,
  kill: (work: Plan['work']) => Promise<void>,
): Promise<void> {
  const { to, work, id, ends = ['live'], afterwards } = plan
  const from = await stage.live()
  const [before] = await stage.deployments()
  stage.watch.expect(from, to)
  await kill(work)
  await afterwards?.()
  await stage.settle()
  const [last] = await stage.deployments()
  const isAccepted = id !== undefined || last?.['id'] !== before?.['id']
  if (!isAccepted) t.match(at, UNSURE, 'what was answered, or is on record, is carried out')
  else if (!ends.includes(String(last?.['status']))) t.fail(`${at}: it ended otherwise`, { last })
  const isThere = isAccepted && ['live', 'unpublished'].includes(String(last?.['status']))
  t.equal(await stage.served(), isThere ? to : from, `${at}: where the address leads`)
  t.equal(await stage.live(), isThere ? to : from, `${at}: what is live on record`)
}

const server = await startPostgres()
t.teardown(() => server.stop())

for (const [place, database] of (['sqlite', 'postgres'] as const).entries()) {
  // The short form takes one stage on each database, the long one its other stages.
  const stages = sized<readonly (typeof STAGES)[number][]>(
    STAGES.slice(place, place + 1),
    STAGES.filter((_, index) => index !== place),
    STAGES,
  )
  for (const { kinds, atMoments } of stages) {
    const what = kinds.join(', ')
    void t.test(
      `killed in every step, each deployment ends well: ${what}, ${database}`,
      async (t) => {
        const folder = t.testdir()
        const data = join(folder, 'data')
        const url = database === 'postgres' ? await server.createDatabase() : undefined
        const stage = await setTheDeployStage(t, folder, {
          ...(url !== undefined && {
            KEYHOOK_DATABASE_URL: url,
            KEYHOOK_MASTER_KEY: `k1:${randomBytes(32).toString('base64')}`,
          }),
          KEYHOOK_DATA_DIR: data,
          KEYHOOK_WORK_LEASE: '2',
          KEYHOOK_RATE_READS: '0',
          KEYHOOK_RATE_WRITES: '0',
        })
        const { daemon } = stage
        for (let releases = 0; releases < 2; releases++) await stage.goOn()
        for (const kind of kinds) {
          const failpoints = DEPLOY_FAILPOINTS[kind].filter((_, index) => index % STRIDE === 0)
          for (const { name } of failpoints) {
            const plan = await PLANS[kind](stage, name)
            await killIn(t, stage, name, plan, (work) => daemon.dieAt(name, work))
          }
        }
        for (const moment of MOMENTS) {
          if (atMoments === undefined) break
          const plan = await PLANS[atMoments](stage, 'a moment')
          await killIn(t, stage, 'a moment', plan, (work) => daemon.killAfter(moment, work()))
        }
        // A fast machine is back before much was seen: how it stands at the end counts too.
        await until('the address was looked at', () => stage.watch.looks > sized(5, 20))
        await stage.watch.stop()
        t.same(stage.watch.wrong, [], 'the address never led elsewhere than on record')
        t.comment(`at most ${stage.longest} ms under way, ${stage.watch.looks} looks`)
        await requireEnds(t, stage, what)
        const hasCanceled = (await stage.deployments()).some(isCanceledHalfway)
        await daemon.stop()

        const left = await openLeftBehind(data, url)
        const { store, bytes } = left
        t.equal(await store.jobs.isClaimable('deployment', 2 ** 50), false, 'nothing is under way')
        const kept = await countBytes(bytes, stage.app)
        t.same(await orphans(left), [], 'no bytes that nothing names')
        t.same(await left.disagreements(), [], 'a job for everything that is open, and no other')
        const removed = kept - (await countBytes(bytes, stage.app))
        if (hasCanceled) t.ok(removed > 0, `${removed} of canceled releases are gone`)
        for (const sha256 of await namedByReleases(store.deployments, bytes, stage.app)) {
          if ((await bytes.get(stage.app, sha256)) === undefined) t.fail(`${sha256} is gone`)
        }
        await left.close()
      },
    )
  }
}

async function countBytes(
  bytes: Awaited<ReturnType<typeof openLeftBehind>>['bytes'],
  app: string,
): Promise<number> {
  let count = 0
  for await (const _ of bytes.list(app)) count++
  return count
}

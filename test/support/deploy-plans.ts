import { randomBytes } from 'node:crypto'
import type { Doing } from '../crash/deploy-failpoints.ts'
import { until } from './daemon.ts'
import type { DeployStage } from './deploy-stage.ts'
import type { Row } from './mortal-daemon.ts'

/** Something that is asked for, and where it leads. */
export interface Plan {
  /** The revision; null for nothing. */
  readonly to: number | null
  readonly work: () => Promise<unknown>
  /** The deployment that it is about, where there is one before. */
  readonly id?: string
  /** How it may end. Default: live. */
  readonly ends?: readonly string[]
  /** Once a daemon is back. */
  readonly afterwards?: () => Promise<void>
}

/** Deployments that a daemon carries out at once. */
const AT_ONCE = [1, 2]
/** Files that keep a daemon busy for seconds. */
const BUSY = Array.from({ length: 60 }, (_, at) => `${at}.txt`)
const BUSY_BYTES = 28_000

async function planPublish(stage: DeployStage, how: 'light' | 'heavy'): Promise<Plan> {
  const to = await stage.change(how)
  return { to, work: () => stage.deploy('deploy/publish') }
}

/** Begins to build what takes seconds, and waits until some of it is made. */
async function beginHeavy(stage: DeployStage): Promise<{ id: string; to: number }> {
  const to = await stage.change('heavy')
  const { id } = await stage.deploy('deploy/publish')
  const path = `/v1/apps/${stage.app}/deployments/${String(id)}`
  await until('some of it is made', async () => {
    const { progress } = await stage.daemon.ask('GET', path)
    return Number((progress as Row)['done']) > 0
  })
  return { id: String(id), to }
}

/** Has other apps built, as many as are at once: what comes then has to wait. Answers the paths of both. */
async function beginOthers({ daemon: { ask } }: DeployStage): Promise<readonly string[]> {
  const paths = await Promise.all(
    AT_ONCE.map(async () => {
      const { id } = await ask('POST', '/v1/apps', { template_id: 'blank' })
      const at = `/v1/apps/${String(id)}`
      const operations = BUSY.map((path) => {
        return { op: 'write', path, content: randomBytes(BUSY_BYTES).toString('hex') }
      })
      await ask('POST', `${at}/edits`, { operations, base_revision: 1 })
      const { id: deployment } = await ask('POST', `${at}/deploy/publish`, {})
      return `${at}/deployments/${String(deployment)}`
    }),
  )
  await until('both are built', async () => {
    const all = await Promise.all(paths.map((path) => ask('GET', path)))
    return all.every(({ status }) => status === 'building')
  })
  return paths
}

/** What brings a daemon to the failpoints of each kind. */
export const PLANS: Readonly<
  Record<Doing, (stage: DeployStage, failpoint: string) => Promise<Plan>>
> = {
  publish: (stage) => planPublish(stage, 'light'),
  'long publish': (stage) => planPublish(stage, 'heavy'),
  async rollback(stage) {
    const live = await stage.live()
    const before = (await stage.deployments()).find(
      ({ status, revision }) => status === 'superseded' && revision !== live,
    )
    return { to: Number(before?.['revision']), work: () => stage.deploy('deploy/rollback') }
  },
  async unpublish(stage) {
    if ((await stage.live()) === null) await stage.goOn()
    return { to: null, work: () => stage.deploy('deploy/unpublish'), ends: ['unpublished'] }
  },
  async 'bad publish'(stage) {
    const to = await stage.live()
    await stage.change('bare')
    return { to, work: () => stage.deploy('deploy/publish'), ends: ['failed'] }
  },
  async 'cancel building'(stage, failpoint) {
    const { id, to } = await beginHeavy(stage)
    // What was not asked for yet, or not surely, need not be.
    const isSure = !/\.asked\.(before|in)_commit/.test(failpoint)
    return {
      to,
      id,
      work: () => stage.deploy(`deployments/${id}/cancel`),
      ends: isSure ? ['canceled'] : ['canceled', 'live'],
    }
  },
  async 'cancel queued'(stage, failpoint) {
    const to = await stage.change('light')
    const others = await beginOthers(stage)
    const id = String((await stage.deploy('deploy/publish'))['id'])
    const isSure = failpoint.endsWith('.after_commit')
    return {
      to,
      id,
      work: () => stage.deploy(`deployments/${id}/cancel`),
      ends: isSure ? ['canceled'] : ['canceled', 'live'],
      async afterwards() {
        for (const path of others) await stage.daemon.ask('POST', `${path}/cancel`, {})
        await stage.over(others)
      },
    }
  },
}

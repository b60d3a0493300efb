import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { IN_PROGRESS } from '../../plugins/platform/contract/deployments.ts'
import type { Env } from './daemon.ts'
import { until } from './daemon.ts'
import type { Address, DeployWatch } from './deploy-watch.ts'
import { servedAt, watchDeploys } from './deploy-watch.ts'
import type { MortalDaemon, Row } from './mortal-daemon.ts'
import { startMortalDaemon } from './mortal-daemon.ts'
import { freePort } from './free-port.ts'

/** One app of a daemon that can be killed, whose page says its revision, and its address under watch. */
export interface DeployStage {
  readonly daemon: MortalDaemon
  readonly app: string
  readonly watch: DeployWatch
  /** The longest that anything was under way once a daemon was back, in milliseconds. */
  readonly longest: number
  /** Makes the next revision; a heavy one takes seconds to be made ready, a bare one cannot be. */
  change(how?: 'light' | 'heavy' | 'bare'): Promise<number>
  /** Asks for a deployment, or for something of it. */
  deploy(what: string, body?: object): Promise<Row>
  /** Publishes the next revision and sees it live. */
  goOn(): Promise<void>
  /** The last deployments of the app, newest first. */
  deployments(): Promise<readonly Row[]>
  /** The revision that is live on record; null for none. */
  live(): Promise<number | null>
  served(): Promise<number | string | null>
  /** Resolves once nothing is under way and every end was told of. */
  settle(): Promise<void>
  /** Resolves once deployments of other apps, by their paths, are no longer under way. */
  over(paths: readonly string[]): Promise<void>
}

const FILES = 60
const LINES = 900
/** Bounds a hang: well before the deadline of a deployment, and long for a lease and the work on a busy machine. */
const SETTLES_WITHIN = 120_000

const HEAVY = Array.from({ length: FILES }, (_, at) => `heavy/${at}.txt`)
const EVERY = 'include=failed,canceled,in_progress'
const UNSERVED = 'site.js.map'

/** Of which nothing was compressed before. */
function heavyText(revision: number, path: string): string {
  return Array.from({ length: LINES }, (_, at) =>
    createHash('sha256').update(`${revision} ${path} ${at}`).digest('hex'),
  ).join('\n')
}

const page = (revision: number): string => `<!doctype html><p>revision ${revision}</p>`

/** What makes the next revision, of which these files are. */
const CHANGES = {
  light: (revision: number) => [['index.html', page(revision)]],
  heavy: (revision: number) => [
    ['index.html', page(revision)],
    ...HEAVY.map((path) => [path, heavyText(revision, path)]),
  ],
  bare: (revision: number) => [[UNSERVED, `revision ${revision}`]],
} as const satisfies Readonly<Record<string, (revision: number) => readonly (readonly string[])[]>>

export async function setTheDeployStage(t: Test, folder: string, env: Env): Promise<DeployStage> {
  const port = await freePort()
  const place = { ...env, KEYHOOK_APPS_PORT: String(port) }
  const daemon = await startMortalDaemon(t, folder, place)
  const { ask } = daemon
  const given = { template_id: 'blank', alias: 'killed' }
  const { id, production_url: url } = await ask('POST', '/v1/apps', given)
  const app = String(id)
  const at = `/v1/apps/${app}`
  const address: Address = { host: new URL(String(url)).hostname, port }
  const watch = watchDeploys(daemon, app, address)
  t.teardown(() => watch.stop())
  let longest = 0

  async function isSettled(): Promise<boolean> {
    const { in_progress: open } = await ask('GET', `${at}/deploy/status`)
    if (open !== null) return false
    // What came before was over before.
    const { data: events } = await ask('GET', '/v1/events?limit=50')
    const told = new Set((events as Row[]).map(({ data }) => (data as Row)['deployment_id']))
    return (await stage.deployments()).every(({ id: one }) => told.has(one))
  }

  const stage: DeployStage = {
    daemon,
    app,
    watch,
    get longest() {
      return longest
    },
    async change(how = 'light') {
      const { current_revision: base_revision } = await ask('GET', at)
      const revision = Number(base_revision) + 1
      const { files } = await ask('GET', `${at}/tree`)
      const wanted = CHANGES[how](revision)
      const gone = (files as { path: string }[]).filter(
        ({ path }) => !wanted.some(([other]) => other === path),
      )
      const operations = [
        ...gone.map(({ path }) => ({ op: 'delete', path })),
        ...wanted.map(([path, content]) => ({ op: 'write', path, content })),
      ]
      const made = await ask('POST', `${at}/edits`, { operations, base_revision })
      if (made['result_revision'] !== revision) throw new Error(`not made: ${JSON.stringify(made)}`)
      return revision
    },
    deploy: (what, body = {}) => ask('POST', `${at}/${what}`, body),
    async goOn() {
      const revision = await stage.change()
      watch.expect(await stage.live(), revision)
      await stage.deploy('deploy/publish')
      await stage.settle()
      if ((await stage.live()) !== revision) throw new Error(`${revision} is not live`)
    },
    async deployments() {
      const { data } = await ask('GET', `${at}/deployments?${EVERY}&limit=10`)
      return data as Row[]
    },
    async live() {
      const { live } = await ask('GET', `${at}/deploy/status`)
      return live === null ? null : Number((live as Row)['revision'])
    },
    served: () => servedAt(address),
    async settle() {
      const began = Date.now()
      await until('everything is over and told of', isSettled, SETTLES_WITHIN)
      longest = Math.max(longest, Date.now() - began)
    },
    async over(paths) {
      const isOver = async (path: string): Promise<boolean> => {
        const { status } = await ask('GET', path)
        return !IN_PROGRESS.some((one) => one === status)
      }
      await until(
        'they are over',
        async () => (await Promise.all(paths.map(isOver))).every(Boolean),
        SETTLES_WITHIN,
      )
    },
  }
  return stage
}

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import type { MortalDaemon, Row } from './mortal-daemon.ts'
import { sized } from './soak.ts'

/** Looks at an app's address without end, whatever becomes of the daemon behind it. */
export interface DeployWatch {
  /**
   * From now on the address may lead from one revision to another, and never back.
   *
   * @param from null for nothing
   */
  expect(from: number | null, to: number | null): void
  /** How often both the address and the record were seen. */
  readonly looks: number
  /** What was seen that must not be. */
  readonly wrong: readonly string[]
  stop(): Promise<void>
}

/** Milliseconds between two looks. 15 cost a sixth more CPU, which the full size alone has time for. */
const PAUSE = sized(40, 40, 15)

/** Where an app is served. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** What an app's page says that it is of: a revision, or null when nothing is published. */
export async function servedAt({ host, port }: Address): Promise<number | string | null> {
  const asked = get({ host: '127.0.0.1', port, path: '/', headers: { host }, agent: false })
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const page = await text(response)
  if (page.includes('is not published at present')) return null
  const [, revision] = /revision (\d+)</.exec(page) ?? []
  return revision === undefined ? `${response.statusCode}: ${page}` : Number(revision)
}

const LED_TO: readonly unknown[] = ['app.deployed', 'app.rolled_back', 'app.unpublished']

const liveOf = ({ live }: Row): Row | undefined => (live ?? undefined) as Row | undefined

/** The revision that an app's address was told to lead to last; undefined when none was. */
async function lastTold({ ask }: MortalDaemon, app: string): Promise<number | null | undefined> {
  const { data } = await ask('GET', '/v1/events?limit=20')
  const last = (data as Row[]).find(
    ({ type, data: told }) => LED_TO.includes(type) && (told as Row)['app_id'] === app,
  )
  if (last === undefined) return undefined
  return Number((last['data'] as Row)['revision'] ?? 0) || null
}

export function watchDeploys(daemon: MortalDaemon, app: string, address: Address): DeployWatch {
  const wrong: string[] = []
  let looks = 0
  let isStopped = false
  let expected: { from: number | null; to: number | null; isThere: boolean } | undefined

  async function look(): Promise<void> {
    const { ask } = daemon
    const at = `/v1/apps/${app}/deploy/status`
    const told = await lastTold(daemon, app)
    const before = await ask('GET', at)
    const expecting = expected
    const served = await servedAt(address)
    const after = await ask('GET', at)
    if (expecting === undefined || expecting !== expected) return
    const isStarting =
      'error' in before || 'error' in after || `${served}`.includes('being started')
    if (isStarting) return
    looks += 1
    const { from, to } = expecting
    const seen = JSON.stringify({ served, from, to, told, before: liveOf(before)?.['revision'] })
    if (served === to) expecting.isThere = true
    else if (served !== from) wrong.push(`neither: ${seen}`)
    else if (expecting.isThere) wrong.push(`back again: ${seen}`)
    if (told === to && served !== to) wrong.push(`told of before: ${seen}`)
    const [one, other] = [liveOf(before), liveOf(after)]
    if (one?.['id'] === other?.['id'] && served !== (one?.['revision'] ?? null)) {
      wrong.push(`not as on record: ${seen}`)
    }
  }

  async function watch(): Promise<void> {
    while (!isStopped) {
      // While there is no daemon there is nothing to be seen.
      await look().catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, PAUSE))
    }
  }

  const watching = watch()
  return {
    expect(from, to) {
      expected = { from, to, isThere: from === to }
    },
    get looks() {
      return looks
    },
    wrong,
    async stop() {
      isStopped = true
      await watching
    },
  }
}

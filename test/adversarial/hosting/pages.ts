import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { RawAnswer } from '../../support/raw-http.ts'
import { openRaw } from '../../support/raw-http.ts'
import { ask } from '../../hosting/rows/row.ts'
import type { Checks } from '../run.ts'
import { digestOf, HOSTILE_APPS, PAGES_PER_APP, sentDigest } from './large-pages.ts'

const MIB = 1024 * 1024

/** Memory that the requests may take: 242 pages of 9 MiB are 2.1 GiB. */
const MOST_GROWN = 160 * MIB

/** Less than the pages would take, so that holding them ends the process. */
const HEAP_MIB = 192

const tagOf = (answer: RawAnswer | undefined): string =>
  answer?.headers.get('etag')?.join() ?? 'no tag'

export const PAGE_CHECKS: Checks = {
  async H08(t, saw) {
    const child = fork(new URL('hostile-pages.js', import.meta.url), {
      execArgv: [...process.execArgv, `--max-old-space-size=${HEAP_MIB}`],
    })
    t.teardown(() => child.kill())
    const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }]
    const get = async (app: number, name: string, method = 'HEAD') => {
      const connection = await openRaw(port)
      connection.send(ask(method, `/${name}`, { Host: `a${app}.localhost` }))
      const answer = await connection.answer(method === 'HEAD')
      connection.destroy()
      return answer
    }
    const apps = Array.from({ length: HOSTILE_APPS }, (_, app) => app)
    const hostile = apps.flatMap((app) =>
      Array.from({ length: PAGES_PER_APP }, (_, at) => ({ app, name: `p${at}` })),
    )
    const flood = async (): Promise<void> => {
      const answers = await Promise.all(hostile.map(({ app, name }) => get(app, name)))
      for (const [at, answer] of answers.entries()) {
        const { app, name } = hostile[at] ?? { app: 0, name: '' }
        if (answer?.status !== 200) t.fail(`${name} of ${app} was answered ${answer?.status}`)
        if (tagOf(answer) !== `"${digestOf(app, name)}"`) t.fail(`the tag of ${name} of ${app}`)
      }
    }
    const good = async (): Promise<void> => {
      const answers = await Promise.all(apps.map((app) => get(app, 'good')))
      for (const [app, answer] of answers.entries()) {
        const tags = [sentDigest(app), digestOf(app, 'good')].map((digest) => `"${digest}"`)
        t.ok(tags.includes(tagOf(answer)), `${app}: with the beacon, or as it is kept`)
      }
    }
    await Promise.all([flood(), good()])
    await flood()

    const page = await get(0, 'good', 'GET')
    saw(String(page?.status))
    const digest = createHash('sha256').update(page?.body ?? '')
    t.equal(tagOf(page), `"${sentDigest(0)}"`, 'once it is quiet a page carries the beacon')
    t.equal(`"${digest.digest('hex')}"`, tagOf(page))

    child.send('memory')
    const [{ grown }] = (await once(child, 'message')) as [{ readonly grown: number }]
    t.comment(`${hostile.length} pages, ${(grown / MIB).toFixed(1)} MiB`)
    t.ok(grown <= MOST_GROWN, `grew by ${grown} bytes`)
  },
}

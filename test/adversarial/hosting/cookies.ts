import type { RawAnswer } from '../../support/raw-http.ts'
import { openRaw } from '../../support/raw-http.ts'
import { openHosting } from '../../support/hosting.ts'
import { publishAll } from '../../hosting/rows/apps.ts'
import { ask } from '../../hosting/rows/row.ts'
import type { Checks } from '../run.ts'

const HOSTS = ['shop', 'router', 'bare', 'abc123--shop', 'off', 'gone', 'held', 'nobody']
const PATHS = ['/', '/about', '/guide', '/missing', '/_p/obs.js', '/_p/beacon', '/%', '/a\\b']
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE']

export const COOKIE_CHECKS: Checks = {
  async H01(t, saw) {
    const hosting = await openHosting(t)
    await publishAll(hosting)
    const answerOf = async (
      method: string,
      host: string,
      path: string,
    ): Promise<RawAnswer | undefined> => {
      const connection = await openRaw(hosting.port)
      connection.send(ask(method, path, { Host: `${host}.localhost` }))
      const answer = await connection.answer(method === 'HEAD')
      connection.destroy()
      return answer
    }
    for (const host of HOSTS) {
      for (const path of PATHS) {
        for (const method of METHODS) {
          const answer = await answerOf(method, host, path)
          const name = `${method} ${host} ${path}`
          t.type(answer?.status, 'number', name)
          const cleared = answer?.headers.get('clear-site-data')?.join() ?? ''
          t.notMatch(cleared, /cookies|\*|clientHints/i, name)
          t.notOk(answer?.headers.has('set-cookie'), name)
        }
      }
    }
    for (const host of ['gone', 'off', 'held']) {
      const answer = await answerOf('GET', host, '/')
      t.match(answer?.headers.get('clear-site-data')?.join(), /^"cache"/, 'the origin is cleared')
      saw(String(answer?.status))
    }
  },
}

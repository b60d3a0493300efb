import { createContext, runInContext } from 'node:vm'
import t from 'tap'
import { openHosting } from '../support/hosting.ts'
import type { RawAnswer } from '../support/raw-http.ts'
import { openRaw } from '../support/raw-http.ts'
import { SHOP, publishAll } from './rows/apps.ts'
import { ask } from './rows/row.ts'

const hosting = await openHosting(t)
await publishAll(hosting)

/** How browsers ask for the script of a worker. */
const FOR_WORKER = { 'Service-Worker': 'script' }

async function answerOf(host: string, path: string, headers = {}): Promise<RawAnswer | undefined> {
  const connection = await openRaw(hosting.port)
  connection.send(ask('GET', path, { Host: host, ...headers }))
  const answer = await connection.answer()
  connection.destroy()
  return answer
}

await t.test('what was taken off is cleared, and what has gone leaves nothing', async (t) => {
  const cleared = async (host: string) =>
    (await answerOf(host, '/about'))?.headers.get('clear-site-data')
  t.strictSame(await cleared('off.localhost'), ['"cache"'])
  t.strictSame(await cleared('held.localhost'), ['"cache"'])
  t.strictSame(await cleared('gone.localhost'), ['"cache", "storage"'])
  t.equal(await cleared('shop.localhost'), undefined, 'a page that is there clears nothing')
  t.equal(await cleared('bare.localhost'), undefined, 'nor one that is missing')
  t.equal(await cleared('nobody.localhost'), undefined)
})

await t.test('a service worker is ended wherever its script is gone', async (t) => {
  const places = [
    ['off.localhost', '/sw.js'],
    ['gone.localhost', '/sw.js'],
    ['held.localhost', '/deep/sw.js?v=2'],
    ['nobody.localhost', '/sw.js'],
    ['bare.localhost', '/sw.js'],
    ['shop.localhost', '/sw.js'],
    ['shop.localhost', '/guide'],
    ['router.localhost', '/sw.js'],
  ] as const
  for (const [host, path] of places) {
    const answer = await answerOf(host, path, FOR_WORKER)
    t.equal(answer?.status, 200, `${host}${path}`)
    t.strictSame(answer?.headers.get('content-type'), ['text/javascript; charset=utf-8'])
    t.strictSame(answer?.headers.get('cache-control'), ['no-store'])
    t.match(answer?.body.toString(), /unregister/)
  }
})

await t.test('a script that is there is served as it is, to whomever', async (t) => {
  const path = 'assets/app.3f9a2c1b.js'
  const answer = await answerOf('shop.localhost', `/${path}`, FOR_WORKER)
  t.strictSame(answer?.body, SHOP[path].body)
  for (const headers of [{}, { 'Service-Worker': 'other' }]) {
    t.equal((await answerOf('off.localhost', '/sw.js', headers))?.status, 404)
    t.equal((await answerOf('shop.localhost', '/sw.js', headers))?.status, 404)
  }
})

await t.test('what ends a worker takes its place at once, and then lets go', async (t) => {
  const listeners = new Map<string, (event: object) => void>()
  const acts: string[] = []
  const scope = {
    addEventListener: (name: string, listener: (event: object) => void) =>
      listeners.set(name, listener),
    skipWaiting: () => acts.push('skipWaiting'),
    registration: {
      unregister() {
        acts.push('unregister')
        return Promise.resolve(true)
      },
    },
  }
  const script = (await answerOf('off.localhost', '/sw.js', FOR_WORKER))?.body.toString() ?? ''
  runInContext(script, createContext(scope))
  listeners.get('install')?.({})
  t.strictSame(acts, ['skipWaiting'])
  const waited: unknown[] = []
  listeners.get('activate')?.({ waitUntil: (what: unknown) => waited.push(what) })
  t.strictSame(acts, ['skipWaiting', 'unregister'])
  t.strictSame(await Promise.all(waited), [true], 'it is not ended before')
  t.strictSame([...listeners.keys()], ['install', 'activate'], 'it answers nothing itself')
})

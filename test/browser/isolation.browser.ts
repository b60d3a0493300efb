import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import t from 'tap'
import { until } from '../support/daemon.ts'
import { ATTEMPTS, byNearness } from './attempts.ts'
import { openChromium } from './chromium.ts'
import type { Body } from './service.ts'
import type { Place, Stage } from './stage.ts'
import { openStage } from './stage.ts'

const PLACES: readonly Place[] = [
  { title: 'as it comes', nearness: 'apart', host: '127.0.0.1', appsDomain: 'localhost' },
  {
    title: 'with the service at localhost itself',
    nearness: 'apart',
    host: 'localhost',
    appsDomain: 'localhost',
  },
  {
    title: 'with apps below the name of the service, against all advice',
    nearness: 'same site',
    host: 'keyhook.localhost',
    appsDomain: 'apps.keyhook.localhost',
  },
]

const hostOf = (address: string): string => new URL(address).hostname

/** Where everything is that a page could be after. */
function whereabouts({ service, neighbour }: Stage, { appsDomain }: Place): Body {
  const { url: api, key } = service
  const hosts = [hostOf(api), hostOf(neighbour.production_url), appsDomain]
  return { api, key, hosts, neighbour: neighbour.production_url, neighbourId: neighbour.id }
}

/** What the account has, as its owner's own page reads it; rejects where the session has ended. */
function stateOf({ studio, neighbour: { id } }: Stage): Promise<string> {
  const parts = ['', '/files', '/edits', '/deploy/status'].map((part) => `/v1/apps/${id}${part}`)
  const paths = ['/v1/session', '/v1/apps', '/v1/webhooks', '/v1/audit-log', ...parts]
  return studio.evaluate<string>(`Promise.all(${JSON.stringify(paths)}.map(async (path) => {
    const response = await fetch(path)
    if (!response.ok) throw new Error(path + ' answered ' + response.status)
    return response.text()
  })).then((texts) => texts.join('\\n'))`)
}

/** The codes of refusals since, each as often as it was the reason. */
async function refusedSince(
  { refusals }: Stage,
  before: ReadonlyMap<string, number>,
): Promise<readonly string[]> {
  return [...(await refusals())].flatMap(([code, count]) =>
    Array<string>(count - (before.get(code) ?? 0)).fill(code),
  )
}

async function closeOthers({ context, studio }: Stage, page: Page): Promise<void> {
  const others = context.pages().filter((one) => one !== studio && one !== page)
  await Promise.all(others.map((one) => one.close()))
}

/** Cookies that the listener of apps sets, as they come. */
function watchCookies({ context, service }: Stage): readonly string[] {
  const set: string[] = []
  context.on('response', (response) => {
    const cookie = response.headers()['set-cookie']
    if (cookie !== undefined && !response.url().startsWith(service.url)) set.push(cookie)
  })
  return set
}

async function checkSession(t: Test, { context, studio }: Stage, { host }: Place) {
  t.match(await context.cookies(), [
    { name: 'keyhook', domain: host, httpOnly: true, sameSite: 'Strict' },
  ])
  t.equal(await studio.evaluate('document.cookie'), '')
  t.equal(await studio.evaluate(`fetch('/v1/session').then(({ status }) => status)`), 200)
}

/** What another app of the same browser keeps there. */
async function keepSecrets({ context, neighbour }: Stage): Promise<void> {
  const page = await context.newPage()
  await page.goto(neighbour.production_url)
  await page.evaluate(`(async () => {
    document.cookie = 'mine=1'
    localStorage.setItem('mine', '1')
    await (await caches.open('mine')).put('/', new Response('mine'))
    await new Promise((resolve) => (indexedDB.open('mine').onsuccess = resolve))
  })()`)
  await page.close()
}

async function checkWorker(t: Test, { context, service, hostile, neighbour }: Stage) {
  const page = await context.newPage()
  await page.goto(hostile.production_url)
  await page.evaluate(`navigator.serviceWorker.register('/worker.js')
    .then(() => navigator.serviceWorker.ready)`)
  const heading = async (address: string): Promise<string | null> => {
    await page.goto(address)
    return page.locator('h1').textContent()
  }
  t.equal(await heading(hostile.production_url), 'Taken over')
  t.equal(await heading(neighbour.production_url), 'Mine')
  t.equal(await heading(hostile.preview_url), 'A harmless page')
  t.equal(await heading(`${service.url}/studio/setup`), 'Set up Keyhook')
  await page.close()
}

async function checkOpener(t: Test, { context, studio, neighbour }: Stage) {
  const opening = context.waitForEvent('page')
  await studio.evaluate(`void open(${JSON.stringify(neighbour.production_url)})`)
  const page = await opening
  await page.waitForLoadState()
  t.equal(await page.locator('h1').textContent(), 'Mine')
  t.equal(await page.evaluate('opener === null'), true)
  await page.close()
}

async function checkDoors(t: Test, { context, service, hostile, neighbour }: Stage) {
  const page = await context.newPage()
  const at = (name: string, door: string): string => {
    const address = new URL(door)
    address.hostname = hostOf(name)
    return address.href
  }
  const misled = await page.goto(at(neighbour.production_url, service.url))
  t.equal(misled?.status(), 421, 'an app has no page where the API is')
  const strange = await page.goto(at(service.url, hostile.production_url))
  t.equal(strange?.status(), 404, 'nothing of an app has the name of the API')
  t.match(await strange?.text(), /nothing at this address/)
  await page.close()
}

async function checkErrors(t: Test, { context, service, neighbour }: Stage) {
  const page = await context.newPage()
  await page.goto(neighbour.production_url)
  await page.evaluate(`void setTimeout(() => { throw new Error('Its own') })`)
  await page.waitForRequest(/beacon/)
  const errors = async (): Promise<readonly Body[]> =>
    (await service.ask<{ data: Body[] }>('GET', `/v1/apps/${neighbour.id}/errors`)).data
  await until('its own is told of', async () => (await errors()).length > 0)
  t.match(await errors(), [{ title: /Its own/ }])
  t.equal((await errors()).length, 1, 'what others said of it was not heard')
  await page.close()
}

async function checkCookies(t: Test, { context, neighbour }: Stage, place: Place) {
  const kept = (await context.cookies()).map(({ name, domain }) => `${name} of ${domain}`)
  const own = [`keyhook of ${place.host}`, `mine of ${hostOf(neighbour.production_url)}`]
  const planted = [`planted of .${place.host}`, `planted of .${place.appsDomain}`]
  t.strictSame(kept.toSorted(), [...own, ...(place.nearness === 'apart' ? [] : planted)].toSorted())
}

const browser = await openChromium(t)

for (const place of PLACES) {
  await t.test(`what an app's page may do, ${place.title}`, async (t) => {
    const stage = await openStage(t, browser, place)
    const cookiesSet = watchCookies(stage)
    await t.test('its visitor is signed in, and no script sees by what', (t) =>
      checkSession(t, stage, place),
    )
    await keepSecrets(stage)
    const before = await stateOf(stage)
    const page = await stage.context.newPage()
    for (const attempt of ATTEMPTS) {
      await t.test(`a page tries ${attempt.tries}`, async (t) => {
        const earlier = await stage.refusals()
        await page.goto(stage.hostile.production_url)
        const given = JSON.stringify([attempt.name, whereabouts(stage, place)])
        const got = await page.evaluate(`attempt(...${given})`)
        t.equal(got, byNearness(attempt.gets, place.nearness))
        const expected = byNearness(attempt.refused ?? [], place.nearness)
        const refused = () => refusedSince(stage, earlier)
        await until('it is refused', async () => (await refused()).length >= expected.length)
        t.strictSame(await refused(), expected)
        if (attempt.frames !== undefined) {
          const frames = (): string[] =>
            page
              .frames()
              .slice(1)
              .map((frame) => frame.url())
          // A frame is there before it is known where it ended.
          await until('each frame is somewhere', () => frames().every((url) => url !== ''))
          t.strictSame(frames(), attempt.frames)
        }
        t.equal(await stateOf(stage), before, 'nothing has changed')
        await closeOthers(stage, page)
      })
    }
    await t.test('a worker of an app reigns over its own host alone', (t) => checkWorker(t, stage))
    await t.test('a page that the service opens knows of no opener', (t) => checkOpener(t, stage))
    await t.test('neither listener answers for the other', (t) => checkDoors(t, stage))
    await t.test('an app is told of its own errors alone', (t) => checkErrors(t, stage))
    await t.test('no app was asked to keep a cookie, and no cookie has strayed', async (t) => {
      t.strictSame(cookiesSet, [])
      await checkCookies(t, stage, place)
    })
  })
}

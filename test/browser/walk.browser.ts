import type { Page } from 'playwright-core'
import t from 'tap'
import { until } from '../support/daemon.ts'
import { openChromium } from './chromium.ts'
import type { Body } from './service.ts'
import { startService } from './service.ts'
import type { Visit } from './visits.ts'
import { countVisits, lineOf } from './visits.ts'

const service = await startService(t)
const browser = await openChromium(t)
const context = await browser.newContext()
const visits = countVisits(context)
const app = await service.makeApp({ template_id: 'notes', alias: 'walk' })
const path = `/v1/apps/${app.id}`
const address = app.production_url
const { host } = new URL(address)
/** Requests by the deployment that was live, and all of them until the app was taken offline. */
const asked = new Map<string, number>()
let online: readonly Visit[] = []

async function open(url: string): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  await page.goto(url, { waitUntil: 'networkidle' })
  return { page, faults }
}

async function write(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: 'New note' }).click()
  await page.getByLabel('Title').fill(title)
  await page.getByRole('button', { name: 'Save and close' }).click()
  await page.getByRole('button', { name: title, exact: true }).waitFor()
}

const titles = (page: Page): Promise<string[]> => page.locator('#list h3').allTextContents()

/** Ends a look at a deployment, and counts what it was asked meanwhile. */
async function leave(page: Page, deployment: string): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.close()
  const before = online.length
  online = await visits.of(host)
  asked.set(deployment, (asked.get(deployment) ?? 0) + online.length - before)
}

await t.test('what is edited and published works in a browser', async (t) => {
  const heading = (name: string): string => `width="40" height="40" />${name}</h1>`
  const edit = await service.edit(
    app,
    { op: 'patch', path: 'index.html', search: heading('Notes'), replace: heading('Our notes') },
    // Its icon, a browser asks for in its own time, be the page gone or not.
    {
      op: 'patch',
      path: 'index.html',
      search: 'icon" href="icon.svg"',
      replace: 'icon" href="data:,"',
    },
    {
      op: 'patch',
      path: 'index.html',
      search: '<script type="module"',
      replace: '<script src="/_p/obs.js"></script><script type="module"',
    },
  )
  const deployment = await service.deploy(app, 'publish')
  t.equal(deployment.edit_id, edit)
  t.match(address, /^http:\/\/walk\.localhost:\d+$/)

  const page = await context.newPage()
  const response = await page.goto(address, { waitUntil: 'networkidle' })
  t.equal(response?.status(), 200)
  t.equal((await response?.serverAddr())?.ipAddress, '127.0.0.1', 'the browser knows the name')
  t.equal(await page.locator('h1').textContent(), 'Our notes')
  await write(page, 'Milk')
  await write(page, 'Bread')
  t.strictSame((await titles(page)).toSorted(), ['Bread', 'Milk'])
  await page.getByLabel('Search in your notes').fill('mil')
  t.strictSame(await titles(page), ['Milk'])
  await page.reload({ waitUntil: 'networkidle' })
  t.equal((await titles(page)).length, 2, 'they are kept')
  await leave(page, deployment.id)
})

await t.test('an error in a browser is told of, with the deployment and the edit', async (t) => {
  const edit = await service.edit(app, {
    op: 'patch',
    path: 'app.js',
    search: "find('#new').addEventListener",
    replace: "find('#add').addEventListener",
  })
  const deployment = await service.deploy(app, 'publish')
  for (const once of ['once', 'and again']) {
    const { page, faults } = await open(address)
    t.match(faults, [/null \(reading 'addEventListener'\)/], once)
    t.equal(await page.locator('#list li').count(), 0, 'the page is broken')
    await leave(page, deployment.id)
  }

  const errors = async () => (await service.ask<{ data: Body[] }>('GET', `${path}/errors`)).data
  await until('both are told of', async () => (await errors())[0]?.['count'] === 2)
  const [error, ...others] = await errors()
  t.strictSame(others, [], 'as one')
  t.match(error, {
    type: 'error',
    env: 'published',
    status: 'open',
    title: /TypeError: Cannot read properties of null \(reading 'addEventListener'\)/,
    culprit: /\/app\.js/,
    deployment_id: deployment.id,
    edit_id: edit,
    sample: { url: `${address}/` },
  })
})

await t.test('rolled back, the earlier page is there again', async (t) => {
  const deployment = await service.deploy(app, 'rollback')
  const { page, faults } = await open(address)
  t.strictSame(faults, [])
  t.equal((await titles(page)).length, 2, 'with what its visitor has written')
  await write(page, 'Salt')
  t.equal((await titles(page)).length, 3)
  await leave(page, deployment.id)
})

await t.test('a preview shows what the files are at present, and is not to be found', async (t) => {
  const { page, faults } = await open(app.preview_url)
  t.match(faults, [/addEventListener/], 'they are as the last edit left them')
  const response = await page.reload({ waitUntil: 'networkidle' })
  t.match(response?.headers(), {
    'x-robots-tag': 'noindex, nofollow',
    'cache-control': 'private, no-store',
  })
  t.equal(await page.locator('#list li').count(), 0, 'it keeps nothing of what is published')
  await page.close()
})

await t.test('taken offline, the address says so', async (t) => {
  t.match(await service.ask('POST', `${path}/deploy/unpublish`), { publish_state: 'unpublished' })
  const page = await context.newPage()
  for (const place of ['/', '/style.css', '/nothing']) {
    const response = await page.goto(address + place)
    t.equal(response?.status(), 404, place)
    t.equal(await page.locator('h1').textContent(), 'Not published', place)
  }
  await page.close()
})

interface Line {
  readonly deployment_id: string | null
  readonly request: {
    readonly method: string
    readonly path: string
    readonly status: number
    readonly bytes: number
  }
}

async function linesOf(env: string): Promise<readonly Line[]> {
  return (await service.ask<{ data: Line[] }>('GET', `${path}/logs?limit=100&env=${env}`)).data
}

await t.test('logs and usage say what the browser asked for, neither more nor less', async (t) => {
  const preview = await visits.of(new URL(app.preview_url).host)
  t.ok(online.length > 25 && preview.length > 5, `${online.length} and ${preview.length} requests`)
  await until('all of it is written', async () => {
    const [live, seen] = await Promise.all([linesOf('published'), linesOf('preview')])
    return live.length >= online.length && seen.length >= preview.length
  })
  const usage = await service.ask<{ meters: Body[] }>('GET', `${path}/hosting-usage`)
  for (const [env, visited] of Object.entries({ published: online, preview })) {
    const lines = (await linesOf(env)).map(({ request }) => lineOf(request))
    t.strictSame(lines.toSorted(), visited.map(lineOf).toSorted(), env)
    t.match(
      Object.fromEntries(usage.meters.map((one) => [String(one['meter']), one[env]])),
      {
        requests: { total: visited.length },
        errors: { total: 0 },
        not_found: { total: 0 },
        egress_bytes: { total: visited.reduce((sum, { bytes }) => sum + bytes, 0) },
      },
      env,
    )
  }
  const logged = new Map<string, number>()
  for (const { deployment_id } of await linesOf('published')) {
    logged.set(String(deployment_id), (logged.get(String(deployment_id)) ?? 0) + 1)
  }
  t.strictSame(logged, asked, 'each by the deployment that answered')
})

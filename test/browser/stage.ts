import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Nearness } from './attempts.ts'
import type { App, Service } from './service.ts'
import { OWNER, startService } from './service.ts'
import { freePort } from '../support/free-port.ts'

const OPERATOR = 'operator-token-of-the-tests-0123456789'

/** Where a daemon says that it and its apps are. */
export interface Place {
  readonly title: string
  readonly nearness: Nearness
  readonly host: string
  readonly appsDomain: string
}

/** A browser whose owner is signed in, with a page of the service open, and two apps to visit. */
export interface Stage {
  readonly service: Service
  readonly context: BrowserContext
  readonly studio: Page
  readonly hostile: App
  readonly neighbour: App
  /** How often the service refused a request so far, by code. */
  refusals(): Promise<ReadonlyMap<string, number>>
}

const TEXT = (name: string): string =>
  readFileSync(new URL(`../../../test/browser/hostile/${name}`, import.meta.url), 'utf8')

const NEIGHBOUR =
  '<!doctype html><title>Neighbour</title><script src="/_p/obs.js"></script><h1>Mine</h1>'

export async function openStage(t: Test, browser: Browser, place: Place): Promise<Stage> {
  const port = String(await freePort())
  const service = await startService(t, {
    KEYHOOK_PORT: port,
    KEYHOOK_BASE_URL: `http://${place.host}:${port}`,
    KEYHOOK_APPS_DOMAIN: place.appsDomain,
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
  })
  const hostile = await publish(service, 'hostile', {
    'index.html': TEXT('index.html'),
    'attempts.js': TEXT('attempts.js'),
    'worker.js': TEXT('worker.js'),
  })
  const neighbour = await publish(service, 'neighbour', { 'index.html': NEIGHBOUR })
  const context = await browser.newContext()
  t.teardown(() => context.close())
  const studio = await context.newPage()
  await studio.goto(`${service.url}/studio/setup`)
  await studio.evaluate(`fetch('/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: ${JSON.stringify(JSON.stringify(OWNER))},
  }).then(({ status }) => { if (status !== 200) throw new Error('not signed in: ' + status) })`)
  return {
    service,
    context,
    studio,
    hostile,
    neighbour,
    async refusals() {
      const headers = { authorization: `Bearer ${OPERATOR}` }
      const metrics = await (await fetch(`${service.address}/metrics`, { headers })).text()
      const counts = metrics.matchAll(/^keyhook_refusals_total\{code="(\w+)"\} (\d+)$/gm)
      const byCode = new Map([...counts].map(([, code = '', count]) => [code, Number(count)]))
      // Browsers look for an icon by themselves.
      byCode.delete('route_not_found')
      return byCode
    },
  }
}

async function publish(
  service: Service,
  alias: string,
  files: Readonly<Record<string, string>>,
): Promise<App> {
  const app = await service.makeApp({ template_id: 'blank', alias })
  const writes = Object.entries(files).map(([path, content]) => ({ op: 'write', path, content }))
  await service.edit(app, ...writes)
  await service.deploy(app, 'publish')
  return app
}

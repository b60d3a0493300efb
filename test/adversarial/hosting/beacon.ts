import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { createHostedDeployer } from '../../../plugins/deploy/hosted.ts'
import { createSiteLoader } from '../../../daemon/hosting/load-site.ts'
import { createSites } from '../../../daemon/hosting/sites.ts'
import { templates } from '../../support/templates.ts'
import { deployWorld, publish, startDeployer } from '../../support/deploys.ts'
import { createApp } from '../../support/edits.ts'
import { openHosting } from '../../support/hosting.ts'
import type { RawAnswer } from '../../support/raw-http.ts'
import { openRaw } from '../../support/raw-http.ts'
import { ask } from '../../hosting/rows/row.ts'
import type { Checks, Saw } from '../run.ts'

const TAG = '<script src="/_p/obs.js"></script>'
const DOMAIN = 'apps.example.net'

/** Apps as they are made, released and served: a deployer, a database, and the listener of apps. */
async function openApps(t: Test, saw: Saw) {
  const world = await deployWorld(t, { deployer: createHostedDeployer() })
  startDeployer(t, world)
  const {
    store,
    plugins: { appBytes: bytes },
    appsHosting: place,
    clock,
  } = world.platform
  if (bytes === undefined || place === undefined) throw new Error('the world serves nothing')
  const load = createSiteLoader({ store, bytes, hosting: place })
  const { port } = await openHosting(t, {
    bytes,
    sites: createSites({ changes: store.changes, clock, load }),
  })
  const get = async (host: string, path: string, headers = {}): Promise<RawAnswer> => {
    const connection = await openRaw(port)
    connection.send(ask('GET', path, { Host: host, ...headers }))
    const answer = await connection.answer()
    connection.destroy()
    if (answer === undefined) throw new Error(`${path} was not answered`)
    saw(String(answer.status))
    return answer
  }
  const edit = async (id: string, ...operations: readonly object[]) => {
    const { body } = await world.request('GET', `/v1/apps/${id}`)
    const base_revision = body['current_revision']
    return world.request('POST', `/v1/apps/${id}/edits`, { body: { base_revision, operations } })
  }
  return { world, get, edit, release: (id: string) => publish(world, id, {}, '?wait=25') }
}

export const BEACON_CHECKS: Checks = {
  async H05(t, saw) {
    const { world, get, release } = await openApps(t, saw)
    for (const { id: template_id, entry } of templates) {
      const { id } = await createApp(world, { template_id })
      const { body } = await world.request('GET', `/v1/apps/${id}`)
      const preview = new URL(String(body['preview_url'])).hostname
      await release(id)
      const source = await world.request('GET', `/v1/apps/${id}/content?path=${entry}`)
      const content = String(source.body['content'])
      t.notMatch(content, 'obs.js', 'what is stored holds none')
      for (const host of [`${id}.${DOMAIN}`, preview]) {
        const page = await get(host, '/')
        const text = page.body.toString()
        t.equal(text.split(TAG).length, 2, `${template_id} of ${host} has it once`)
        t.equal(text.replace(TAG, ''), content, 'and is else what it was')
        const digest = createHash('sha256').update(page.body).digest('hex')
        t.strictSame(page.headers.get('etag'), [`"${digest}"`])
      }
    }
  },

  async H06(t, saw) {
    const { world, get, edit, release } = await openApps(t, saw)
    const { id } = await createApp(world, {})
    const host = `${id}.${DOMAIN}`
    const set = (value: string | null) => edit(id, { op: 'set_config', key: 'observe', value })
    t.match(await set('none'), { status: 400, body: { error: { code: 'config_not_allowed' } } })
    saw('400 config_not_allowed')
    for (const [value, isObserved] of [
      ['off', false],
      ['on', true],
      ['off', false],
      [null, true],
    ] as const) {
      t.match(await set(value), { body: { status: 'completed' } })
      await release(id)
      const page = await get(host, '/')
      t.equal(page.body.includes(TAG), isObserved, `observe: ${value}`)
      t.equal(page.headers.has('reporting-endpoints'), isObserved)
    }
  },

  async H07(t, saw) {
    const { world, get, edit, release } = await openApps(t, saw)
    const { id } = await createApp(world, {})
    const policy = (text: string): string =>
      `<!doctype html><head><meta http-equiv="Content-Security-Policy" content="${text}"><title>x`
    const pages = {
      allowed: policy("default-src 'self'"),
      none: policy("default-src 'none'"),
      nonce: policy("script-src 'nonce-abc' 'strict-dynamic'"),
    }
    const writes = Object.entries(pages).map(([name, content]) => ({
      op: 'write',
      path: `${name}.html`,
      content,
    }))
    t.match(await edit(id, ...writes), { body: { status: 'completed' } })
    await release(id)
    const host = `${id}.${DOMAIN}`
    for (const name of ['none', 'nonce'] as const) {
      t.equal((await get(host, `/${name}`)).body.toString(), pages[name])
    }
    const allowed = await get(host, '/allowed')
    t.equal(allowed.body.toString(), pages.allowed.replace('<title>', `${TAG}<title>`))
    const header = allowed.headers.get('content-security-policy')?.join() ?? ''
    t.notMatch(header, /script-src|nonce|sha256/, 'nothing is added to a policy')
  },

  async H09(t, saw) {
    const { world, get, edit, release } = await openApps(t, saw)
    const { id } = await createApp(world, {})
    const content = '<p>no head'
    await edit(id, { op: 'write', path: 'sub/p.html', content })
    await release(id)
    for (const [destination, expected] of [
      ['document', TAG + content],
      ['iframe', TAG + content],
      ['empty', content],
    ] as const) {
      const page = await get(`${id}.${DOMAIN}`, '/sub/p.html', { 'Sec-Fetch-Dest': destination })
      t.equal(page.body.toString(), expected, destination)
      t.match(page.headers.get('vary')?.join(), /\bSec-Fetch-Dest$/)
      const digest = createHash('sha256').update(page.body).digest('hex')
      t.strictSame(page.headers.get('etag'), [`"${digest}"`])
    }
  },
}

/** The container image, as buildah of Debian builds and runs it: test/soak/tools.sh installs it. */
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import { until } from '../support/daemon.ts'
import { certify } from '../support/egress.ts'
import { freePort } from '../support/free-port.ts'
import type { RunningImage } from '../support/image.ts'
import { buildImage } from '../support/image.ts'
import type { Receiver } from '../support/receiver.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

t.setTimeout(10 * MINUTE)

const USER = 65_532
const ACCEPTED = answerWith('HTTP/1.1 204 No Content\r\n\r\n')

/** A plugin that refuses to start, and says what it found. */
const ROOTS = `
import { rootCertificates } from 'node:tls'
import { definePlugin } from 'keyhook/plugins'
export const plugin = definePlugin({
  contract: 'destinations', name: 'roots',
  create: () => { throw new Error(rootCertificates.length + ' authorities') },
})
`

const hasBuildah = spawnSync('buildah', ['--version']).status === 0
const isRun = hasBuildah && process.getuid?.() === 0
if (!isRun) t.comment('buildah is not installed, or this is not root: the image is not run')
if (process.env['CI'] === 'true') t.ok(isRun, 'a machine of CI builds the image')

if (isRun) {
  const image = await buildImage()
  t.teardown(() => image.remove())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const certificate = await certify(t.testdir(), 'localhost')
  const receivers = {
    http: await startReceiver(ACCEPTED),
    https: await startReceiver(ACCEPTED, { tls: certificate }),
  }
  t.teardown(() => Promise.all(Object.values(receivers).map((one) => one.close())))
  const env = {
    KEYHOOK_HOST: '127.0.0.1',
    KEYHOOK_PORT: String(port),
    KEYHOOK_APPS_PORT: '0',
    KEYHOOK_BASE_URL: url,
    KEYHOOK_OWNER_EMAIL: 'owner@example.com',
    KEYHOOK_OWNER_PASSWORD: 'a password of this test',
    KEYHOOK_EVENT_TYPES: 'order.paid',
    KEYHOOK_WEBHOOK_ALLOW: '127.0.0.0/8,localhost',
    KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '1,1,1,1,1,1,1,1',
  }
  let serving: RunningImage | undefined
  t.teardown(() => serving?.end('SIGKILL').then(() => undefined))
  const health = image.config.Healthcheck.Test.slice(1)
  let key = ''

  const post = async <Body>(path: string, body: object): Promise<Body> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = JSON.stringify(body)
    const response = await fetch(url + path, { method: 'POST', headers, body: sent })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Body
  }

  interface Hook {
    readonly id: string
    readonly receiver: Receiver
    readonly secret: string
  }

  const hookTo = async (scheme: keyof typeof receivers): Promise<Hook> => {
    const receiver = receivers[scheme]
    const to = { url: `${scheme}://localhost:${receiver.port}/in`, events: ['order.paid'] }
    return { receiver, ...(await post<{ id: string; secret: string }>('/v1/webhooks', to)) }
  }

  /** Publishes an event, and verifies what arrives of it. */
  const deliver = async ({ receiver, secret }: Hook): Promise<object | undefined> => {
    const { id } = await post<{ id: string }>('/v1/events', { type: 'order.paid', data: {} })
    const find = () => receiver.requests.find(({ body }) => body.includes(id))
    await until('the event arrives', () => find() !== undefined)
    const { head = '', body = '' } = find() ?? {}
    const lines = head.split('\r\n').slice(1)
    const headers = lines.map((line) => line.split(': ') as [string, string])
    return verifyWebhook(body, new Headers(headers), secret)
  }

  await t.test('it holds the executable, its libraries, a licence and a folder', async (t) => {
    const entries = await readdir(image.root, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    const names = files.map((entry) => join(entry.parentPath, entry.name).slice(image.root.length))
    t.same(
      names.filter((name) => !/^\/lib(64|\/[\w-]+)\/[\w+.-]+\.so[\w.]*$/.test(name)).toSorted(),
      [
        '/keyhook',
        '/usr/share/doc/keyhook/LICENSE',
        '/usr/share/doc/keyhook/THIRD-PARTY-LICENSES.txt',
        '/usr/share/doc/keyhook/sbom.cdx.json',
      ],
    )
    const documents = join(image.root, 'usr/share/doc/keyhook')
    const sbom = await readFile(join(documents, 'sbom.cdx.json'), 'utf8')
    t.match(JSON.parse(sbom), { bomFormat: 'CycloneDX', specVersion: '1.5' })
    const licences = await readFile(join(documents, 'THIRD-PARTY-LICENSES.txt'), 'utf8')
    for (const name of ['koa 3', 'react 19', 'Node.js is licensed', 'GCC Runtime Library']) {
      t.match(licences, name)
    }
    t.match(image.config, {
      User: `${USER}:${USER}`,
      Entrypoint: ['/keyhook'],
      Cmd: ['serve'],
      Volumes: { '/data': {} },
      Labels: {
        'org.opencontainers.image.licenses': 'MIT',
        'org.opencontainers.image.version': '1.2.3',
      },
    })
    t.same(health, ['/keyhook', 'doctor', '--live'])
  })

  await t.test('it is not healthy before it serves', async (t) => {
    const ran = await image.run(health)
    t.equal(ran.code, 1)
    t.match(ran.out, /FAILED +live +no daemon runs/)
  })

  let plain: Hook | undefined
  let checked: Hook | undefined

  await t.test('it serves as another user than root, is healthy, and delivers', async (t) => {
    serving = await image.serve(env)
    t.equal((await image.run(health)).code, 0)
    t.match((await image.run([...health.slice(0, 2), '--ready'])).out, /can write/)
    const scopes = ['--scopes', 'webhooks:*,events:*']
    const created = ['/keyhook', 'key', 'create', '--name', 'one', ...scopes, '--raw']
    key = (await image.run(created)).out.trim()
    plain = await hookTo('http')
    t.match(await deliver(plain), { type: 'order.paid' })
    t.equal((await stat(join(await image.volume(), 'keyhook.db'))).uid, USER)
  })

  await t.test('it ends at SIGTERM, and is not healthy any more', async (t) => {
    t.equal(await serving?.end('SIGTERM'), 0)
    t.match(serving?.output(), 'stopping')
    t.equal((await image.run(health)).code, 1)
  })

  await t.test(
    'it serves with a read-only root, and trusts a certificate it is given',
    async (t) => {
      const volume = await image.volume()
      await writeFile(join(volume, 'ca.pem'), certificate.cert)
      serving = await image.serveReadOnly({ ...env, NODE_EXTRA_CA_CERTS: '/data/ca.pem' })
      t.match(await deliver(plain as Hook), { type: 'order.paid' }, 'what was stored is there')
      checked = await hookTo('https')
      t.match(await deliver(checked), { type: 'order.paid' })
      t.equal(await serving.end('SIGTERM'), 0)
    },
  )

  await t.test('a certificate that nobody vouches for is refused', async (t) => {
    const before = receivers.https.requests.length
    serving = await image.serve(env)
    await post('/v1/events', { type: 'order.paid', data: {} })
    await until('the attempt has failed', async () => {
      const path = `${url}/v1/webhooks/${checked?.id}/deliveries?limit=1`
      const listed = await fetch(path, { headers: { authorization: `Bearer ${key}` } })
      return (await listed.text()).includes('"code":"tls"')
    })
    t.equal(receivers.https.requests.length, before)
    await serving.end('SIGTERM')
  })

  await t.test('the certificates of public authorities are in it', async (t) => {
    const plugins = join(await image.volume(), 'plugins')
    await mkdir(plugins)
    await writeFile(join(plugins, 'destinations-roots.mjs'), ROOTS)
    const { out, err } = await image.run(['/keyhook', 'serve'], env)
    const [, count = 0] = /(\d+) authorities/.exec(out + err) ?? []
    t.ok(Number(count) > 100, out + err)
  })
}

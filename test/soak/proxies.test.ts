/** What `keyhook proxy-example` prints, in the proxies that Debian packages: test/soak/tools.sh installs them. */
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { runKeyhook } from '../support/backups.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { certify } from '../support/egress.ts'
import { freePort } from '../support/free-port.ts'
import { FRONT_PROXIES, siteClient, startFrontProxy } from '../support/front-proxy.ts'

t.setTimeout(10 * MINUTE)

const PROGRAMS = { caddy: ['caddy', 'version'], nginx: ['/usr/sbin/nginx', '-v'] } as const
const NAMES = Object.keys(FRONT_PROXIES) as (keyof typeof FRONT_PROXIES)[]

const isInstalled = (name: (typeof NAMES)[number]): boolean => {
  const [program, ...args] = PROGRAMS[name]
  return spawnSync(program, args).status === 0
}
const missing = NAMES.filter((name) => !isInstalled(name))
for (const name of missing) t.comment(`${name} is not installed, and not run`)
if (process.env['CI'] === 'true') t.same(missing, [], 'a machine of CI has the proxies')

const API = 'api.localhost'
const APPS = 'apps.localhost'
/** Above what nginx accepts unless it is told. */
const LARGE = 3 * 1_048_576
const SPOOFED = '203.0.113.9'

for (const name of NAMES.filter((one) => !missing.includes(one))) {
  await t.test(`${name} passes on the API, streams, uploads and apps`, async (t) => {
    const folder = t.testdir({ tls: {}, made: {} })
    const [data, tls] = [join(folder, 'data'), join(folder, 'tls')]
    const [port, apiPort, appsPort] = [await freePort(), await freePort(), await freePort()]
    const env = {
      KEYHOOK_DATA_DIR: data,
      KEYHOOK_PORT: String(apiPort),
      KEYHOOK_APPS_PORT: String(appsPort),
      KEYHOOK_BASE_URL: `https://${API}:${port}`,
      KEYHOOK_APPS_URL: `https://${APPS}:${port}`,
      KEYHOOK_TRUSTED_PROXIES: '127.0.0.0/8',
      KEYHOOK_OWNER_EMAIL: 'owner@example.com',
      KEYHOOK_OWNER_PASSWORD: 'a password of this test',
    }
    const ca: string[] = []
    for (const [site, subject] of Object.entries({ [API]: API, [APPS]: `*.${APPS}` })) {
      await mkdir(join(folder, 'made', site))
      const { key, cert } = await certify(join(folder, 'made', site), subject)
      await writeFile(join(tls, `${site}.crt`), cert)
      await writeFile(join(tls, `${site}.key`), key)
      ca.push(cert)
    }
    const daemon = await startDaemonProcess(env)
    t.teardown(() => daemon.end('SIGTERM'))
    const run = async (line: string): Promise<string> => {
      const { code, out, err } = await runKeyhook(data, line.split(' '), { env })
      if (code !== 0) throw new Error(out + err)
      return out.trim()
    }
    const config = await run(`proxy-example ${name} --certificates ${tls}`)
    const proxy = await startFrontProxy(name, { folder, port, config })
    t.teardown(() => proxy.end())
    const client = siteClient(port, ca)
    t.teardown(() => {
      client.close()
    })
    const scopes = 'keys:*,apps:*,files:*,deploy:*,observe:read'
    const key = await run(`key create --name one --scopes ${scopes} --raw`)
    const authorization = `Bearer ${key}`
    const post = async <Body>(path: string, body: object): Promise<Body> => {
      const { status, text } = await client.ask(API, path, {
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/json',
          'x-forwarded-for': SPOOFED,
        },
        body: JSON.stringify(body),
      })
      if (status >= 400) throw new Error(`${path}: ${status} ${text}`)
      return JSON.parse(text) as Body
    }

    await post('/v1/keys', { name: 'two', scopes: ['apps:read'] })
    const audited = await run('audit list --json')
    t.match(audited, '"ip":"127.0.0.1"', 'the address of the client is the one that the proxy saw')
    t.notMatch(audited, SPOOFED)
    t.equal((await client.ask(API, '/v1/keys/self', { headers: {} })).status, 401)

    const app = await post<{ id: string }>('/v1/apps', { name: 'Shop', template_id: 'landing' })
    const form = new FormData()
    form.append('file', new Blob(['a word '.repeat(LARGE / 7)]), 'words.txt')
    const upload = new Request('http://localhost', { method: 'POST', body: form })
    const uploaded = await client.ask(API, `/v1/apps/${app.id}/files`, {
      method: 'POST',
      headers: { authorization, 'content-type': upload.headers.get('content-type') ?? '' },
      body: new Uint8Array(await upload.arrayBuffer()),
    })
    t.equal(uploaded.status, 202, uploaded.text)

    const stream = await client.open(API, `/v1/apps/${app.id}/logs/follow`, {
      headers: { authorization },
    })
    let streamed = ''
    stream.on('data', (chunk: Buffer) => (streamed += chunk.toString()))
    t.match(stream.headers['content-type'], 'text/event-stream')
    await until('the stream begins', () => streamed.includes('retry:'))

    await post(`/v1/apps/${app.id}/deploy/publish`, {})
    const host = `${app.id}.${APPS}`
    await until('the app is served', async () => {
      const { status, text } = await client.ask(host, '/')
      return status === 200 && text.includes('<html')
    })
    await until('the visit is streamed', () => streamed.includes('event: line'))
    stream.destroy()
    t.equal((await client.ask(`no-such-app.${APPS}`, '/')).status, 404)
  })
}

import { parseYaml } from '@redocly/openapi-core'
import t from 'tap'
import { runCli } from '../../daemon/cli/program.ts'

const PUBLIC = {
  KEYHOOK_BASE_URL: 'https://api.example.com',
  KEYHOOK_APPS_URL: 'https://apps.example.net',
  KEYHOOK_TRUSTED_PROXIES: '10.0.0.1',
}

async function print(line: string, env: Readonly<Record<string, string>> = PUBLIC) {
  const ran = { code: 0, out: '', err: '' }
  const terminal = {
    env,
    out: (more: string) => void (ran.out += more),
    err: (more: string) => void (ran.err += more),
    readInput: () => Promise.resolve(''),
  }
  const commands = { specs: [], functions: () => Promise.resolve({}) }
  ran.code = await runCli(['proxy-example', ...line.split(' ')], terminal, commands)
  return ran
}

interface Traefik {
  readonly http: {
    readonly routers: Readonly<Record<string, { readonly rule: string; readonly tls?: object }>>
    readonly services: Readonly<
      Record<string, { readonly loadBalancer: { readonly servers: readonly object[] } }>
    >
  }
  readonly tls?: { readonly certificates: readonly object[] }
}

await t.test('one for Traefik is of two sites, each with its daemons', async (t) => {
  const { out, err } = await print('traefik --upstream one,two')
  t.equal(err, '')
  const { http, tls } = parseYaml(out) as Traefik
  t.match(http.routers['keyhook-api'], { rule: 'Host(`api.example.com`)', tls: {} })
  const [, pattern = ''] =
    /^HostRegexp\(`(.*)`\)$/.exec(http.routers['keyhook-apps']?.rule ?? '') ?? []
  t.match('shop.apps.example.net', new RegExp(pattern))
  t.notMatch('a.shop.apps.example.net', new RegExp(pattern))
  t.notMatch('shop.appsXexample.net', new RegExp(pattern))
  t.same(http.services['keyhook-apps']?.loadBalancer.servers, [
    { url: 'http://one:8421' },
    { url: 'http://two:8421' },
  ])
  t.same(tls?.certificates[1], {
    certFile: '/etc/keyhook/tls/apps.example.net.crt',
    keyFile: '/etc/keyhook/tls/apps.example.net.key',
  })
})

await t.test('without a public address of apps there is one site', async (t) => {
  const { KEYHOOK_APPS_URL: _, ...env } = PUBLIC
  const off = { ...PUBLIC, KEYHOOK_APPS: 'off' }
  for (const given of [env, off]) {
    const { out } = await print('traefik', given)
    t.same(Object.keys((parseYaml(out) as Traefik).http.routers), ['keyhook-api'])
    t.notMatch((await print('caddy', given)).out, 'apps')
    t.notMatch((await print('nginx', given)).out, 'apps')
  }
})

await t.test('an address of http has no certificate', async (t) => {
  const env = { ...PUBLIC, KEYHOOK_BASE_URL: 'http://api.example.com', KEYHOOK_APPS: 'off' }
  t.match((await print('caddy', env)).out, /^http:\/\/api\.example\.com \{/m)
  t.notMatch((await print('nginx', env)).out, 'ssl')
  t.notMatch((await print('traefik', env)).out, 'tls')
})

await t.test('a proxy reaches the address that the daemon listens on', async (t) => {
  const at = async (KEYHOOK_HOST: string) =>
    (await print('nginx', { ...PUBLIC, KEYHOOK_HOST })).out.match(/server (\S+:8420)/)?.[1]
  t.equal(await at('10.0.0.7'), '10.0.0.7:8420')
  t.equal(await at('0.0.0.0'), '127.0.0.1:8420')
  t.equal(await at('::'), '[::1]:8420')
})

await t.test('Caddy obtains the certificate of the API, unless one is named', async (t) => {
  t.notMatch((await print('caddy')).out, 'api.example.com.crt')
  t.match((await print('caddy --certificates /tls')).out, 'tls /tls/api.example.com.crt')
})

await t.test('Caddy may sign every certificate itself, and no other proxy does', async (t) => {
  const { out } = await print('caddy --internal-ca')
  t.equal(out.match(/^\ttls internal$/gm)?.length, 2)
  t.notMatch(out, '.crt')
  t.match(await print('nginx --internal-ca'), { code: 1, err: /--internal-ca is of Caddy/ })
  t.equal((await print('caddy --internal-ca --certificates /tls')).code, 2)
})

await t.test('what is missing is named', async (t) => {
  const refusals = {
    KEYHOOK_BASE_URL: {},
    KEYHOOK_PORT: { ...PUBLIC, KEYHOOK_PORT: '0' },
    path: { KEYHOOK_BASE_URL: 'https://example.com/keyhook' },
  }
  for (const [named, env] of Object.entries(refusals)) {
    const { code, out, err } = await print('nginx', env)
    t.same([code, out], [1, ''])
    t.match(err, named)
  }
  const { KEYHOOK_TRUSTED_PROXIES: _, ...untrusting } = PUBLIC
  t.match((await print('caddy', untrusting)).err, 'KEYHOOK_TRUSTED_PROXIES must name')
  t.equal((await print('apache')).code, 2)
})

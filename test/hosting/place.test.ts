import t from 'tap'
import { ConfigError, readConfig } from '../../daemon/config/config.ts'
import { appsHostingOf, appsPortOf, sharedSite } from '../../daemon/hosting/apps-hosting.ts'

type Env = Readonly<Record<string, string>>

const PLACES: readonly (readonly [env: Env, port: number, domain: string, shop: string])[] = [
  [{}, 8421, 'localhost', 'http://shop.localhost:8421'],
  [
    { KEYHOOK_APPS_DOMAIN: 'Apps.Example.NET' },
    80,
    'apps.example.net',
    'http://shop.apps.example.net',
  ],
  [
    { KEYHOOK_APPS_URL: 'https://apps.example.net/' },
    8421,
    'apps.example.net',
    'https://shop.apps.example.net',
  ],
  [
    { KEYHOOK_APPS_URL: 'https://apps.example.net:444', KEYHOOK_APPS_DOMAIN: 'apps.example.net' },
    8421,
    'apps.example.net',
    'https://shop.apps.example.net:444',
  ],
  [
    { KEYHOOK_APPS: 'off', KEYHOOK_APPS_URL: 'https://apps.example.net' },
    8421,
    'apps.example.net',
    'https://shop.apps.example.net',
  ],
]

await t.test('the address of an app', async (t) => {
  for (const [env, port, domain, shop] of PLACES) {
    const place = appsHostingOf(readConfig(env), port)
    t.strictSame([place?.domain, place?.urlOf('shop')], [domain, shop])
  }
  t.equal(appsHostingOf(readConfig({ KEYHOOK_APPS: 'off' }), 8421), undefined)
})

await t.test('the port of apps', async (t) => {
  const portOf = (env: Env): number => appsPortOf(readConfig(env))
  t.equal(portOf({}), 8421)
  t.equal(portOf({ KEYHOOK_PORT: '9000' }), 8421)
  t.equal(portOf({ KEYHOOK_PORT: '0' }), 0)
  t.equal(portOf({ KEYHOOK_PORT: '0', KEYHOOK_APPS_PORT: '81' }), 81)
  t.equal(portOf({ KEYHOOK_APPS_PORT: '0' }), 0)
})

const REFUSED: readonly (readonly [env: Env, dev: boolean, message: RegExp])[] = [
  [{ KEYHOOK_APPS: 'yes' }, false, /KEYHOOK_APPS must be one of on, off/],
  [{ KEYHOOK_APPS_PORT: '65536' }, false, /KEYHOOK_APPS_PORT must be a whole number/],
  [{ KEYHOOK_APPS_PORT: '-1' }, false, /KEYHOOK_APPS_PORT must be a whole number/],
  [{ KEYHOOK_APPS_DOMAIN: '127.0.0.1' }, false, /KEYHOOK_APPS_DOMAIN must be a domain/],
  [{ KEYHOOK_APPS_DOMAIN: '[::1]' }, false, /KEYHOOK_APPS_DOMAIN must be a domain/],
  [{ KEYHOOK_APPS_DOMAIN: 'apps.example.net:81' }, false, /KEYHOOK_APPS_DOMAIN must be a domain/],
  [{ KEYHOOK_APPS_DOMAIN: 'apps.example.net.' }, false, /KEYHOOK_APPS_DOMAIN must be a domain/],
  [{ KEYHOOK_APPS_DOMAIN: '*.example.net' }, false, /KEYHOOK_APPS_DOMAIN must be a domain/],
  [{ KEYHOOK_APPS_URL: 'https://a.example/b' }, false, /KEYHOOK_APPS_URL must be .*without a path/],
  [{ KEYHOOK_APPS_URL: 'https://10.0.0.1' }, false, /KEYHOOK_APPS_URL must be a domain/],
  [{ KEYHOOK_APPS_URL: 'apps.example.net' }, false, /KEYHOOK_APPS_URL must be an http/],
  [
    { KEYHOOK_APPS_URL: 'https://a.example', KEYHOOK_APPS_DOMAIN: 'b.example' },
    false,
    /KEYHOOK_APPS_URL must be an address of KEYHOOK_APPS_DOMAIN/,
  ],
  [{ KEYHOOK_APPS_HOST: '0.0.0.0' }, true, /KEYHOOK_APPS_HOST must be a loopback address/],
]

await t.test('settings of apps that cannot be used', async (t) => {
  for (const [env, dev, message] of REFUSED) {
    t.throws(() => readConfig(env, dev ? 'dev' : undefined), { constructor: ConfigError, message })
  }
})

const SITES: readonly (readonly [domain: string, baseUrl: string, warns: boolean])[] = [
  ['example.com', 'https://example.com', true],
  ['apps.example.com', 'https://keyhook.example.com', true],
  ['apps.example.com', 'https://example.com', true],
  ['example.com', 'https://keyhook.example.com', true],
  ['apps.example.co.uk', 'https://keyhook.example.co.uk', true],
  ['apps.example.co.uk', 'https://keyhook.another.co.uk', false],
  ['apps.example.net', 'https://keyhook.example.com', false],
  ['shop.github.io', 'https://keyhook.github.io', false],
  ['shop.example.gov.br', 'https://example.gov.br', true],
  ['example-apps.com', 'https://example.com', false],
  ['localhost', 'http://127.0.0.1:8420', false],
  ['localhost', 'http://localhost:8420', false],
  ['apps.localhost', 'http://keyhook.localhost', false],
  ['localhost', 'https://keyhook.example.com', false],
  ['apps.example.net', 'http://[::1]:8420', false],
]

await t.test('apps that share a site with the service are warned of', async (t) => {
  for (const [domain, baseUrl, warns] of SITES) {
    const place = { domain, urlOf: () => '' }
    t.equal(sharedSite(place, baseUrl) !== undefined, warns, `${domain} beside ${baseUrl}`)
  }
})

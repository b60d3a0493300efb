import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import t from 'tap'
import { runCli } from '../../daemon/cli/program.ts'
import { readConfig } from '../../daemon/config/config.ts'
import { ROOT } from '../arch/source.ts'

interface Service {
  readonly environment?: Readonly<Record<string, string>>
  readonly extends?: { readonly service: string }
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, object>>
  readonly read_only?: boolean
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, object>>
}

const fileOf = (name: string): string => readFileSync(join(ROOT, 'packaging', name), 'utf8')
const read = (name: string): Compose => parseYaml(fileOf(name)) as Compose
const FILES = { 'compose.yaml': ['keyhook'], 'compose.postgres.yaml': ['keyhook-1', 'keyhook-2'] }

/** What the image sets itself. */
const OWN = Object.fromEntries(
  [...fileOf('Containerfile').matchAll(/\b(KEYHOOK_\w+)=(\S+)/g)].map(([, name, value]) => [
    name ?? '',
    value ?? '',
  ]),
)

/** As compose sets variables of its environment. */
const GIVEN: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'hunter2',
  KEYHOOK_MASTER_KEY: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
}

function environmentOf({ services }: Compose, name: string): Readonly<Record<string, string>> {
  const { environment = {}, extends: base } = services[name] ?? {}
  const own = Object.entries(environment).map(([setting, value]) => [
    setting,
    value.replaceAll(/\$\{(\w+):\?\}/g, (_, given: string) => GIVEN[given] ?? ''),
  ])
  const inherited =
    base === undefined ? OWN : environmentOf({ services, volumes: {} }, base.service)
  return { ...inherited, ...(Object.fromEntries(own) as Record<string, string>) }
}

for (const [file, daemons] of Object.entries(FILES)) {
  await t.test(`${file} is of settings that exist, on a root that cannot be written to`, (t) => {
    const compose = read(file)
    for (const name of daemons) {
      const config = readConfig(environmentOf(compose, name))
      t.match(config, { dataDir: '/data', host: '0.0.0.0', port: 8420 }, name)
    }
    const [first = ''] = daemons
    t.equal(compose.services[first]?.read_only, true)
    const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes)
    const named = mounted.map((volume) => volume.split(':')[0] ?? '')
    t.same(
      named.filter((name) => !name.startsWith('.')).toSorted(),
      Object.keys(compose.volumes).toSorted(),
    )
    const awaited = Object.values(compose.services).flatMap(({ depends_on = {} }) =>
      Object.keys(depends_on),
    )
    t.same(
      awaited.filter((name) => compose.services[name] === undefined),
      [],
    )
    t.end()
  })
}

await t.test('the Caddyfile is what the command prints for the daemons beside it', async (t) => {
  const env = environmentOf(read('compose.postgres.yaml'), 'keyhook-1')
  let printed = ''
  const terminal = {
    env,
    out: (more: string) => void (printed += more),
    err: (more: string) => void t.fail(more),
    readInput: () => Promise.resolve(''),
  }
  const line = ['proxy-example', 'caddy', '--upstream', 'keyhook-1,keyhook-2']
  await runCli(line, terminal, { specs: [], functions: () => Promise.resolve({}) })
  t.equal(fileOf('Caddyfile'), printed)
})

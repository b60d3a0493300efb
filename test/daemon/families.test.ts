import type { Test } from 'tap'
import t from 'tap'
import { readConfig } from '../../daemon/config/config.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { isTool, toolName } from '../../daemon/operations/agent.ts'
import type { Operation } from '../../daemon/operations/operation.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { sourcesIn } from '../arch/source.ts'

const isNeeded = (family: Family): boolean =>
  FAMILIES.some(({ needs = [] }) => needs.includes(family))
/** Those of the platform: they stand on others, or others on them. */
const PLATFORM = FAMILIES.filter((family) => family.needs !== undefined || isNeeded(family))

/** What goes with a family: it, and every family that stands on it. */
function goingWith(family: Family): readonly Family[] {
  const gone = new Set([family])
  // A set that grows while it is walked through is walked through to its end.
  for (const one of gone) {
    for (const other of FAMILIES) if (other.needs?.includes(one) === true) gone.add(other)
  }
  return [...gone]
}

/** Lists of what there is, each of which has a line for a family. */
const LISTS = new Set([
  'daemon/families/index.ts',
  'daemon/client/routes.ts',
  'daemon/composition/work.ts',
])
const sources = ['lib', 'plugins', 'daemon'].flatMap(sourcesIn)
const importersOf = (target: string) =>
  sources.filter(({ imports }) => imports.some((one) => one.own && one.target === target))

await t.test('a family is a folder, its work, and a line in each list', async (t) => {
  t.ok(PLATFORM.length >= 6, `${PLATFORM.length} families`)
  for (const family of PLATFORM) {
    const folders = goingWith(family).map(({ name }) => `daemon/families/${name}/`)
    const isGone = (path: string) => folders.some((folder) => path.startsWith(folder))
    const stays = sources.filter(({ path }) => !isGone(path) && !LISTS.has(path))
    const broken = stays.filter(({ imports }) => imports.some(({ target }) => isGone(target)))
    for (const { path } of broken) {
      t.match(path, /^daemon\/worker\//, `without ${family.name}, ${path} has nothing to import`)
      t.same(
        importersOf(path).filter((one) => !LISTS.has(one.path)),
        [],
        `${path} goes with ${family.name}: only lists name it`,
      )
    }
  }
})

const OPERATOR = 'operator-token-of-the-tests-0123456789'

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** A daemon that serves these families, asked by its operator on behalf of an account. */
async function serve(t: Test, families: readonly Family[]) {
  const config = readConfig({
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_PORT: '0',
    KEYHOOK_APPS_PORT: '0',
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
  })
  const daemon = await startDaemon(config, createLog('silent'), { families })
  t.teardown(() => daemon.stop())
  const headers: Record<string, string> = { authorization: `Bearer ${OPERATOR}` }
  const ask = async (method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(daemon.url + path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
  const account = await ask('POST', '/v1/accounts', { name: 'Shop' })
  headers['keyhook-account'] = String(account.body['id'])
  return ask
}

/** What an operator may read knowing an app at most. */
function isSimpleRead({ effect, method, access, path }: Operation): boolean {
  const params = path.match(/\{\w+\}/g) ?? []
  return (
    effect === 'read' &&
    method === 'GET' &&
    (typeof access === 'object' || access === 'operator') &&
    params.every((param) => param === '{app_id}')
  )
}

function isSkill({ agent }: Operation): boolean {
  return isTool(agent) && agent.skill !== undefined
}

function pathOf({ path, example }: Operation, app: unknown): string {
  const query = new URLSearchParams(example.query).toString()
  const filled = path.replace('{app_id}', String(app))
  return query === '' ? filled : `${filled}?${query}`
}

for (const family of PLATFORM) {
  await t.test(`without ${family.name} a daemon serves the rest`, async (t) => {
    const gone = goingWith(family)
    const rest = FAMILIES.filter((one) => !gone.includes(one))
    const ask = await serve(t, rest)
    const hasApps = rest.some(({ name }) => name === 'apps')
    const made = hasApps && (await ask('POST', '/v1/apps', { template_id: 'blank' }))
    const app = made ? made.body['id'] : 'app'

    const served = rest.flatMap(({ operations }) => operations)
    const reads = served.filter(isSimpleRead)
    t.ok(reads.length >= 5, `${reads.length} reads`)
    for (const one of reads) t.equal((await ask('GET', pathOf(one, app))).status, 200, one.id)

    const document = await ask('GET', '/v1/openapi.json')
    const paths = Object.entries(document.body['paths'] as Readonly<Record<string, object>>)
    const described = paths.flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    t.same(described.sort(), served.map(({ method, path }) => `${method} ${path}`).sort())
    const card = await ask('GET', '/.well-known/agent-card.json')
    t.same(
      (card.body['skills'] as readonly { readonly id: string }[]).map(({ id }) => id),
      served.filter(isSkill).map(({ id }) => toolName(id)),
      'its card has the skills that it serves',
    )
    const removed = gone.flatMap(({ operations }) => operations)
    for (const { id, method, path } of removed.filter((one) => one.method === 'GET')) {
      if (served.some((one) => one.path === path)) continue
      t.equal((await ask(method, path.replaceAll(/\{\w+\}/g, String(app)))).status, 404, id)
    }
    if (!hasApps) return
    t.equal((await ask('DELETE', `/v1/apps/${String(app)}`)).status, 200, 'archived all the same')
  })
}

await t.test('without edits no app is made of a prompt', async (t) => {
  const edits = FAMILIES.find(({ name }) => name === 'edits')
  const ask = await serve(
    t,
    FAMILIES.filter((one) => one !== edits),
  )
  t.match(await ask('POST', '/v1/apps', { prompt: 'A shop' }), {
    status: 501,
    body: { error: { code: 'capability_unavailable' } },
  })
})

await t.test('a family without what it needs is refused', async (t) => {
  const families = FAMILIES.filter(({ name }) => name !== 'apps')
  const config = readConfig({ KEYHOOK_DATA_DIR: t.testdir(), KEYHOOK_PORT: '0' })
  await t.rejects(startDaemon({ ...config, apps: 'off' }, createLog('silent'), { families }), {
    message: 'the family edits needs apps, which is not served',
  })
})

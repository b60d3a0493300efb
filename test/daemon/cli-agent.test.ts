import t from 'tap'
import type { AgentFile } from '../../daemon/cli/agent-files.ts'
import type { Answer } from '../../daemon/cli/ask.ts'
import { runCli } from '../../daemon/cli/program.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import type { CommandRequest } from '../../daemon/cli/request.ts'
import { FAMILIES } from '../../daemon/families/index.ts'

const KEY = 'shop_dk_0123456789abcdef'
const DAY = 24 * 60 * 60 * 1000

interface NewKey {
  readonly name: string
  readonly scopes: readonly string[]
  readonly apps?: readonly string[]
  readonly expires_at: string
}

interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly asked: readonly (CommandRequest & { readonly account: string | undefined })[]
  readonly created: NewKey
}

const REFUSED: Answer = {
  status: 403,
  text: '{"error":{"code":"scope_not_delegable","message":"Too much.","details":{},"errors":[]}}',
}

const MCP = 'http://127.0.0.1:8420/mcp'

async function agent(
  line: readonly string[],
  refused?: string,
  { service = 'shop', mcp = MCP }: { service?: string; mcp?: string | null } = {},
): Promise<Run> {
  const asked: Run['asked'][number][] = []
  let [out, err] = ['', '']
  const terminal = {
    env: {},
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    readInput: () => Promise.resolve(''),
  }
  const ask = (request: CommandRequest, account: string | undefined): Promise<Answer> => {
    asked.push({ ...request, account })
    if (request.path === refused) return Promise.resolve(REFUSED)
    const text =
      request.method === 'GET'
        ? { service, interfaces: { mcp } }
        : { ...(JSON.parse(request.body ?? '') as NewKey), id: 'k1', key: KEY }
    return Promise.resolve({ status: 200, text: JSON.stringify(text) })
  }
  const code = await runCli(['agent', ...line], terminal, commandsOf(FAMILIES), ask)
  const created = JSON.parse(asked.at(1)?.body ?? '{}') as NewKey
  return { code, out, err, asked, created }
}

const filesOf = async (line: readonly string[]): Promise<readonly AgentFile[]> => {
  const { out } = await agent([...line, '--json'])
  return (JSON.parse(out) as { readonly files: readonly AgentFile[] }).files
}

await t.test(
  'the key reads and changes apps, publishes nothing, and ends in 30 days',
  async (t) => {
    const before = Date.now()
    const { code, asked, created, out } = await agent(['--account', 'a1'])
    t.equal(code, 0)
    t.same(
      asked.map(({ method, path, account }) => [method, path, account]),
      [
        ['GET', '/v1/discovery', 'a1'],
        ['POST', '/v1/keys', 'a1'],
      ],
    )
    t.same(created.scopes, [
      'apps:read',
      'edits:read',
      'files:read',
      'deploy:read',
      'observe:read',
      'discovery:read',
      'apps:write',
      'edits:write',
      'files:write',
    ])
    t.equal(created.apps, undefined)
    const days = (Date.parse(created.expires_at) - before) / DAY
    t.ok(days >= 30 && days < 30.1, created.expires_at)
    t.ok(out.startsWith(`export KEYHOOK_AGENT_KEY=${KEY}\n`))
    t.equal(out.split(KEY).length, 2, 'the key is shown once')
  },
)

await t.test('options narrow the key and the tools', async (t) => {
  const one = await agent(['cursor', '--read-only', '--app', 'shop1', '--expires', '12h'])
  t.ok(one.created.scopes.every((scope) => scope.endsWith(':read')))
  t.same(one.created.apps, ['shop1'])
  t.ok(Date.parse(one.created.expires_at) < Date.now() + DAY)
  t.match(one.out, 'http://127.0.0.1:8420/mcp?app=shop1&read_only=true')
  const two = await agent(['--app', 'a', '--app', 'b', '--publish', '--name', 'CI'])
  t.match(two.created, { name: 'CI', apps: ['a', 'b'] })
  t.ok(two.created.scopes.includes('deploy:write'))
  t.match(two.out, /"http:\/\/127\.0\.0\.1:8420\/mcp"/, 'no single app')
  t.same((await agent(['--scopes', 'apps:read, edits:*'])).created.scopes, ['apps:read', 'edits:*'])
})

await t.test('each file refers to the variable, and never holds the key', async (t) => {
  const files = await filesOf([])
  t.same(
    files.map(({ client, path }) => [client, path]),
    [
      ['claude-code', '.mcp.json'],
      ['cursor', '.cursor/mcp.json'],
      ['vscode', '.vscode/mcp.json'],
      ['codex', '.codex/config.toml'],
    ],
  )
  for (const { path, text } of files) {
    t.notOk(text.includes(KEY), path)
    t.ok(text.includes('KEYHOOK_AGENT_KEY'), path)
  }
  const [claude, cursor, vscode, codex] = files.map(({ text }) => text)
  const url = 'http://127.0.0.1:8420/mcp'
  t.same(JSON.parse(claude ?? ''), {
    mcpServers: {
      shop: { type: 'http', url, headers: { Authorization: 'Bearer ${KEYHOOK_AGENT_KEY}' } },
    },
  })
  t.same(JSON.parse(cursor ?? ''), {
    mcpServers: { shop: { url, headers: { Authorization: 'Bearer ${env:KEYHOOK_AGENT_KEY}' } } },
  })
  t.match(JSON.parse(vscode ?? ''), {
    inputs: [{ id: 'KEYHOOK_AGENT_KEY', type: 'promptString', password: true }],
    servers: {
      shop: { type: 'http', url, headers: { Authorization: 'Bearer ${input:KEYHOOK_AGENT_KEY}' } },
    },
  })
  t.equal(
    codex,
    '[mcp_servers."shop"]\nurl = "http://127.0.0.1:8420/mcp"\nbearer_token_env_var = "KEYHOOK_AGENT_KEY"\n',
  )
  t.same(
    (await filesOf(['codex'])).map(({ client }) => client),
    ['codex'],
  )
})

await t.test('a refusal is shown, and no key is created after one', async (t) => {
  const first = await agent([], '/v1/discovery')
  t.equal(first.code, 1)
  t.equal(first.asked.length, 1)
  const second = await agent([], '/v1/keys')
  t.equal(second.code, 1)
  t.match(second.err, 'Too much.')
  t.equal(second.out, '')
  const unknown = await agent(['emacs'])
  t.equal(unknown.code, 2)
  t.equal(unknown.asked.length, 0)
  t.equal((await agent(['--expires', 'soon'])).code, 2)
  t.equal((await agent(['--read-only', '--publish'])).code, 2)
  t.equal((await agent(['--read-only', '--scopes', 'apps:write'])).code, 2)
  t.equal((await agent(['--publish', '--scopes', 'apps:write'])).code, 2)
  t.equal((await agent(['--expires', 'null'])).code, 2, 'each key ends')
})

await t.test('no key is created where no tools are served', async (t) => {
  const { code, err, asked } = await agent([], undefined, { mcp: null })
  t.equal(code, 1)
  t.match(err, 'no tools')
  t.equal(asked.length, 1)
})

await t.test('an app that is named twice is one', async (t) => {
  const { created, out } = await agent(['--app', 'shop1', '--app', 'shop1'])
  t.same(created.apps, ['shop1'])
  t.match(out, `${MCP}?app=shop1`)
})

await t.test('whatever the options are, files can be parsed and hold no key', async (t) => {
  const lines = [
    [],
    ['--read-only'],
    ['--publish', '--app', 'a', '--app', 'b'],
    ['--app', 'a&b="c"\n', '--name', KEY],
    ['--scopes', '*:*', '--expires', '1h'],
  ]
  for (const line of lines) {
    for (const service of ['shop', 'a "shop"\\ of ours']) {
      const { out } = await agent([...line, '--json'], undefined, { service })
      const { files, key, variable } = JSON.parse(out) as {
        readonly files: readonly AgentFile[]
        readonly key: { readonly key: string; readonly expires_at: string }
        readonly variable: string
      }
      t.equal(key.key, KEY)
      t.ok(Date.parse(key.expires_at) > Date.now())
      t.equal(files.length, 4)
      for (const { client, text } of files) {
        t.notOk(text.includes(KEY), client)
        const { url, reference } = readFile(client, text, service)
        t.equal(new URL(url).pathname, '/mcp', client)
        t.ok(reference.includes(variable), client)
      }
    }
  }
})

/** What a client reads in its file: the address of the server of this name, and where its key is. */
function readFile(
  client: AgentFile['client'],
  text: string,
  name: string,
): { readonly url: string; readonly reference: string } {
  if (client === 'codex') {
    const entries = text.trim().split('\n')
    const [head = '', ...lines] = entries
    const [, quoted = ''] = /^\[mcp_servers\.("(?:[^"\\]|\\.)*")\]$/.exec(head) ?? []
    if (JSON.parse(quoted) !== name) throw new Error(text)
    const values = Object.fromEntries(
      lines.map((line) => {
        const [, key = '', value = ''] = /^(\w+) = ("(?:[^"\\]|\\.)*")$/.exec(line) ?? []
        return [key, JSON.parse(value) as string]
      }),
    )
    return { url: values['url'] ?? '', reference: values['bearer_token_env_var'] ?? '' }
  }
  const { mcpServers, servers } = JSON.parse(text) as Partial<
    Record<'mcpServers' | 'servers', Record<string, Listed>>
  >
  const server = (mcpServers ?? servers)?.[name]
  if (server === undefined) throw new Error(text)
  return { url: server.url, reference: server.headers.Authorization }
}

interface Listed {
  readonly url: string
  readonly headers: { readonly Authorization: string }
}

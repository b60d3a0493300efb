import t from 'tap'
import { z } from 'zod'
import type { Answer } from '../../daemon/cli/ask.ts'
import { BUILT_IN } from '../../daemon/cli/built-in.ts'
import type { Ask } from '../../daemon/cli/operation-command.ts'
import { runCli } from '../../daemon/cli/program.ts'
import { printCommands } from '../../daemon/operations/command.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import type { CommandRequest } from '../../daemon/cli/request.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { operation } from '../../daemon/operations/operation.ts'
import { defineErrors } from '../../lib/errors.ts'

const never = (): Promise<never> => Promise.reject(new Error('a stub runs nothing'))
const shared = {
  access: 'operator',
  agent: { omit: 'A stub that runs nothing.' },
  emits: ['pots'],
  output: z.any(),
  errors: [],
} as const

const createPot = operation({
  effect: 'write',
  ...shared,
  id: 'pots.create',
  summary: 'Create a pot',
  method: 'POST',
  path: '/v1/pots',
  input: {
    body: z.union([
      z
        .strictObject({
          name: z.string().meta({ description: 'Its name' }),
          sizes: z.array(z.string()).optional(),
          expires_at: z.string().meta({ format: 'date-time' }).nullable().optional(),
          grace_seconds: z.int().optional(),
          hot: z.boolean().optional(),
          extra: z.record(z.string(), z.unknown()).optional(),
          color: z.enum(['red', 'blue']).optional(),
        })
        .meta({ id: 'NewPot' }),
      z.strictObject({ pots: z.array(z.unknown()) }),
    ]),
  },
  example: { body: { name: "Jo's", sizes: ['s', 'm'], hot: true }, response: {} },
  secret: ['token'],
  command: 'pot create',
  run: never,
})
const listPots = operation({
  effect: 'read',
  ...shared,
  id: 'pots.list',
  summary: 'List pots',
  method: 'GET',
  path: '/v1/pots',
  input: { query: z.strictObject({ limit: z.string().optional() }) },
  example: { response: {} },
  command: 'pot list',
  run: never,
})
const fillPot = operation({
  effect: 'write',
  ...shared,
  id: 'pots.fill',
  summary: 'Fill a pot',
  method: 'POST',
  path: '/v1/pots/{pot_id}/fill',
  input: {
    params: z.strictObject({ pot_id: z.string() }),
    body: z.strictObject({ with: z.string(), password: z.string() }).optional(),
  },
  example: { params: { pot_id: 'p1' }, body: { with: 'tea', password: 'x' }, response: {} },
  command: 'pot fill <with>',
  run: never,
})
const emptyPot = operation({
  effect: 'write',
  ...shared,
  id: 'pots.empty',
  summary: 'Empty a pot',
  method: 'DELETE',
  path: '/v1/pots/{pot_id}',
  input: {
    params: z.strictObject({ pot_id: z.string() }),
    body: z.strictObject({ slowly: z.boolean().optional() }).optional(),
  },
  example: { params: { pot_id: 'p1' }, response: {} },
  command: 'pot empty',
  run: never,
})
const pots: Family = {
  name: 'pots',
  scopes: {},
  events: [],
  errors: defineErrors({}),
  operations: [createPot, listPots, fillPot, emptyPot],
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly asked: readonly (CommandRequest & { readonly account: string | undefined })[]
}

/** One command line against the stub family, with the answer that the daemon would give. */
async function run(
  line: readonly string[],
  answer: unknown = { id: 'p1' },
  status = 200,
  families: readonly Family[] = [pots],
) {
  const ran = { code: 0, out: '', err: '', asked: [] as Ran['asked'][number][] }
  const terminal = {
    env: {},
    out: (text: string) => void (ran.out += text),
    err: (text: string) => void (ran.err += text),
    readInput: () => Promise.resolve('correct horse \n\n'),
  }
  const ask = (request: CommandRequest, account: string | undefined): Promise<Answer> => {
    ran.asked.push({ ...request, account })
    return Promise.resolve({ status, text: JSON.stringify(answer) })
  }
  ran.code = await runCli(line, terminal, commandsOf(families), ask)
  return { ...ran, body: JSON.parse(ran.asked[0]?.body ?? 'null') as unknown }
}

await t.test(
  'an operation is a command: its fields are options, its path parameters stand',
  async (t) => {
    const created = await run(
      'pot create --name A --sizes s,m --sizes l --expires null --grace-seconds 5 --hot --color red'
        .split(' ')
        .concat('--extra', '{"a":[1]}', '--account', 'acc'),
    )
    t.match(created.asked, [{ method: 'POST', path: '/v1/pots', account: 'acc' }])
    t.strictSame(created.body, {
      name: 'A',
      sizes: ['s', 'm', 'l'],
      expires_at: null,
      grace_seconds: 5,
      hot: true,
      extra: { a: [1] },
      color: 'red',
    })
    t.strictSame((await run(['pot', 'create', '--name', 'A'])).body, { name: 'A' })
    t.match((await run(['pot', 'create', '--name', 'A', '--no-hot'])).body, { hot: false })
    const listed = await run(['--account', 'b', 'pot', 'list', '--limit', '2'])
    t.match(listed.asked, [
      { method: 'GET', path: '/v1/pots?limit=2', body: undefined, account: 'b' },
    ])
    const emptied = await run(['pot', 'empty', 'a/../b'])
    t.match(emptied.asked, [{ method: 'DELETE', path: '/v1/pots/a%2F..%2Fb', body: undefined }])
  },
)

await t.test('an option is known by its name in the API, and a list by its singular', async (t) => {
  const line = 'pot create --name A --size s,m --sizes l --expires-at null --grace-seconds 5'
  const { code, body } = await run(line.split(' '))
  t.equal(code, 0)
  t.strictSame(body, { name: 'A', sizes: ['s', 'm', 'l'], expires_at: null, grace_seconds: 5 })
  const key = ['key', 'create', '--name', 'CI', '--scope', 'apps:read', '--scope', 'keys:read']
  const created = await run(key, undefined, 201, FAMILIES)
  t.strictSame(created.body, { name: 'CI', scopes: ['apps:read', 'keys:read'] })
  const verified = await run(
    'key verify --key-stdin --scope apps:read'.split(' '),
    undefined,
    200,
    FAMILIES,
  )
  t.match(verified.body, { scope: 'apps:read' }, 'where that is an option of its own')
  t.notMatch((await run(['pot', 'create', '--help'])).out, /--size |--expires-at/)
})

await t.test('a password comes from standard input alone, without its one newline', async (t) => {
  const filled = await run(['pot', 'fill', 'p1', 'tea', '--password-stdin'])
  t.match(filled.asked, [{ path: '/v1/pots/p1/fill' }])
  t.strictSame(filled.body, { with: 'tea', password: 'correct horse \n' })
  t.equal((await run(['pot', 'fill', 'p1', 'tea', '--password', 'x'])).code, 2)
})

await t.test('a line that cannot be understood asks nothing: one line, exit code 2', async (t) => {
  const refused: Readonly<Record<string, RegExp>> = {
    'pot create': /required option '--name <text>' not specified/,
    'pot create --name A --nmae B': /unknown option '--nmae' \(Did you mean --name\?\)/,
    'pot create --name A --grace-seconds 1.5': /Must be a whole number/,
    'pot create --name A --extra {': /Must be JSON/,
    'pot create --name A --color green': /Must be one of red, blue/,
    'pot fill p1 --password-stdin':
      /missing required argument 'with'\. See `keyhook pot fill --help`/,
    'pot list --account a\tb': /Must be an account id/,
    'pot fill  tea --password-stdin': /Must not be empty/,
    'pot brew': /unknown command 'brew'.* See `keyhook pot --help`/,
    'serve --nope': /unknown option '--nope'.* See `keyhook serve --help`/,
    'backup create --to x --nope': /unknown option '--nope'.* See `keyhook backup create --help`/,
    'login a b': /too many arguments.* See `keyhook login --help`/,
    sreve: /unknown command 'sreve' .Did you mean serve.. See `keyhook --help`/,
  }
  for (const [line, message] of Object.entries(refused)) {
    const { code, out, err, asked } = await run(line.split(' '))
    t.equal(code, 2, line)
    t.match(err, message, line)
    t.match(err, /^keyhook: .+ See `keyhook .*--help`\n$/, line)
    t.strictSame([out, asked], ['', []], line)
  }
})

await t.test(
  'a record is lines, a list is a table, a secret is shown once, --raw prints it alone',
  async (t) => {
    const made = { id: 'p1', token: 'whole', tags: ['a', 'b'], note: null, by: { type: 'key' } }
    t.equal(
      (await run(['pot', 'create', '--name', 'A'], made)).out,
      [
        'id     p1',
        'token  whole',
        'tags   a, b',
        'note   -',
        'by     {"type":"key"}',
        '',
        'The token is shown only once. Keep it now.\n',
      ].join('\n'),
    )
    t.equal((await run(['pot', 'create', '--name', 'A', '--raw'], made)).out, 'whole\n')
    t.notMatch((await run(['pot', 'empty', 'p1'], { ...made, token: null })).out, 'once')

    const rows = [
      { id: 'p1', name: 'A', status: 'active', weight: 3 },
      { id: 'p22', name: 'B\u001b[2J', status: 'off', weight: 4 },
    ]
    const page = { data: rows, has_more: true, next_cursor: 'c1' }
    t.equal(
      (await run(['pot', 'list'], page)).out,
      [
        'ID   NAME        STATUS',
        'p1   A           active',
        'p22  B\\u001b[2J  off',
        '',
        'There is more: --cursor c1\n',
      ].join('\n'),
    )
    t.equal((await run(['pot', 'list'], { data: [], has_more: false })).out, 'None.\n')
    const empty = { data: [], has_more: true, next_cursor: 'c2' }
    t.equal(
      (await run(['pot', 'list'], empty)).out,
      'None on this page.\n\nThere is more: --cursor c2\n',
    )
    for (const line of [
      ['--json', 'pot', 'list'],
      ['pot', 'list', '--json'],
    ]) {
      t.equal((await run(line, page)).out, `${JSON.stringify(page)}\n`)
    }
  },
)

await t.test(
  'a refusal names its code, the fields and the request, and exits with 1',
  async (t) => {
    const errors = [{ location: 'body.name', code: 'x', message: 'Must not be blank.' }]
    const error = {
      code: 'invalid',
      message: 'Wrong.',
      request_id: 'req_1',
      details: { n: 1 },
      errors,
    }
    const refused = await run(['pot', 'list'], { error }, 400)
    t.strictSame([refused.code, refused.out], [1, ''])
    t.equal(
      refused.err,
      'keyhook: Wrong. (invalid)\n  body.name: Must not be blank.\n  n: 1\n  request req_1\n',
    )
    const asJson = await run(['pot', 'list', '--json'], { error }, 400)
    t.strictSame([asJson.code, asJson.err, JSON.parse(asJson.out)], [1, '', { error }])
    const account = { ...error, code: 'account_required' }
    t.match((await run(['pot', 'list'], { error: account }, 400)).err, '--account <id>')
  },
)

await t.test('help lists every command, and every field with its description', async (t) => {
  const overview = await run(['--help'])
  t.equal(overview.code, 0)
  for (const line of [/^ {2}serve /m, /^ {2}doctor /m, /^ {2}pot create +Create a pot$/m]) {
    t.match(overview.out, line)
  }
  t.match(overview.out, /^ {2}listen +Forward events/m)
  t.match((await run(['pot', '--help'])).out, /fill .*<pot-id> <with>/)
  for (const line of [['serve'], ['pot', 'create'], ['backup', 'restore']]) {
    const asOption = await run([...line, '--help'])
    t.match(await run(['help', ...line]), { code: 0, out: asOption.out }, line.join(' '))
    t.match(asOption.out, `Usage: keyhook ${line.join(' ')} `)
  }
  t.equal((await run(['help', 'nothing'])).code, 2)
  const help = (await run(['pot', 'create', '--help'])).out
  t.match(help, 'Usage: keyhook pot create --name <text> [options]')
  t.match(help, /--name <text> +\(required\) Its name\./)
  t.match(help, /--color <text> +One of red, blue\./)
  t.match(help, String.raw`keyhook pot create --name 'Jo'\''s' --sizes s,m --hot`)
  t.match((await run(['--version'])).out, /^\d+\.\d+\.\d+\n$/)
  t.equal((await run([])).code, 2)
})

await t.test(
  'every operation of the daemon that names a command makes one, with help',
  async (t) => {
    const commands = commandsOf(FAMILIES)
    t.ok(commands.specs.length > 0)
    t.same(BUILT_IN, JSON.parse(printCommands(commands.specs)), 'those that the build wrote')
    const asked: string[] = []
    const answering: Ask = async ({ path }) => {
      asked.push(path)
      return { status: 200, text: '{"data":[],"has_more":false,"next_cursor":null}' }
    }
    const quiet = { env: {}, out: () => undefined, err: t.fail, readInput: never }
    t.equal(await runCli(['key', 'list'], quiet, { ...commands, specs: BUILT_IN }, answering), 0)
    t.same(asked, ['/v1/keys'], 'no option of theirs is needed that is not')
    for (const { group, verb, summary } of commands.specs) {
      let out = ''
      const terminal = { env: {}, out: (text: string) => void (out += text), err: t.fail }
      const line = [group, verb, '--help']
      t.equal(
        await runCli(line, { ...terminal, readInput: never }, commands, never),
        0,
        line.join(' '),
      )
      t.match(out, summary.slice(0, 30))
    }
    const broken = { ...pots, operations: [{ ...listPots, command: 'pot list <nothing>' }] }
    t.throws(() => commandsOf([broken]), TypeError('pots.list has no field nothing'))
    t.throws(
      () => commandsOf([{ ...pots, operations: [{ ...listPots, command: 'pots' }] }]),
      TypeError,
    )
  },
)

import t from 'tap'
import type { Answer } from '../../daemon/cli/ask.ts'
import { runCli } from '../../daemon/cli/program.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import type { CommandRequest } from '../../daemon/cli/request.ts'
import { FAMILIES } from '../../daemon/families/index.ts'

interface Given {
  /** What the daemon answers, in turn. */
  readonly answers?: readonly (Answer | Promise<Answer>)[]
  readonly input?: string
  readonly notice?: (text: string) => void
  readonly families?: typeof FAMILIES
}

/** One command line of the real families, against answers that are given. */
async function run(line: readonly string[], given: Given = {}) {
  const { answers = [], input = '', notice, families = FAMILIES } = given
  const ran = { code: 0, out: '', err: '', asked: [] as CommandRequest[] }
  const terminal = {
    env: {},
    out: (text: string) => void (ran.out += text),
    err: (text: string) => void (ran.err += text),
    notice,
    readInput: () => Promise.resolve(input),
  }
  const ask = async (request: CommandRequest): Promise<Answer> => {
    ran.asked.push(request)
    return answers[ran.asked.length - 1] ?? { status: 200, text: '{"id":"r1"}' }
  }
  ran.code = await runCli(line, terminal, commandsOf(families), ask)
  return ran
}

const CREATED = '2026-01-31T12:00:00.000Z'

const page = (names: readonly string[], cursor: string | null): Answer => ({
  status: 200,
  text: JSON.stringify({
    data: names.map((name) => ({ id: name, name })),
    has_more: cursor !== null,
    next_cursor: cursor,
  }),
})

await t.test('--all asks for every page and prints them as one', async (t) => {
  // A page of a filtered list may be empty, and yet not the last one.
  const answers = [page(['a', 'b'], 'c/1'), page([], 'c2'), page(['c', 'd', 'e'], null)]
  const notices: string[] = []
  const notice = (text: string): void => void notices.push(text)
  const listed = await run(['key', 'list', '--limit', '2', '--all'], { answers, notice })
  t.equal(listed.code, 0)
  t.same(
    listed.asked.map(({ path }) => path),
    ['', '&cursor=c%2F1', '&cursor=c2'].map((cursor) => `/v1/keys?limit=2${cursor}`),
  )
  t.equal(listed.out, 'ID  NAME\na   a\nb   b\nc   c\nd   d\ne   e\n')
  t.same(notices, ['2 so far', '2 so far', ''])
  const json = await run(['--json', 'key', 'list', '--all'], { answers })
  t.match(JSON.parse(json.out), { data: { length: 5 }, has_more: false, next_cursor: null })
  t.equal((await run(['key', 'list'], { answers })).asked.length, 1)
  t.match(await run(['app', 'templates', '--all']), { code: 2, err: /unknown option '--all'/ })
})

await t.test('a refusal on the way ends --all: a part does not pass for the whole', async (t) => {
  const error = { code: 'unavailable', message: 'Try again.', request_id: 'req_1' }
  const refusal = { status: 503, text: JSON.stringify({ error }) }
  const listed = await run(['key', 'list', '--all'], { answers: [page(['a'], 'c1'), refusal] })
  t.match(listed, { code: 1, out: '', err: /Try again\. \(unavailable\)/ })
})

await t.test('a person who watches is told that work goes on, and nobody else', async (t) => {
  const told: string[] = []
  let answer: (given: Answer) => void = () => undefined
  const late = new Promise<Answer>((resolve) => (answer = resolve))
  const tested = await run(['webhook', 'test', 'w1'], {
    answers: [late],
    notice(text) {
      told.push(text)
      answer({ status: 200, text: '{"status":"succeeded"}' })
    },
  })
  t.match(tested, { code: 0, out: 'status  succeeded\n', err: '' })
  t.same(told, ['at work for 1 s', ''])
})

await t.test('JSON may come from standard input', async (t) => {
  const line = ['event', 'publish', '--type', 'order.paid', '--data', '-']
  const published = await run(line, { input: '{"order": 1}\n' })
  t.strictSame(JSON.parse(published.asked[0]?.body ?? ''), {
    type: 'order.paid',
    data: { order: 1 },
  })
  const refused = await run(line, { input: 'order' })
  t.strictSame([refused.code, refused.out, refused.asked], [2, '', []])
  const help = 'keyhook event publish --help'
  t.equal(refused.err, `keyhook: --data from standard input: Must be JSON. See \`${help}\`\n`)
})

await t.test('a key to verify is read from standard input, as a password is', async (t) => {
  const verified = await run(['key', 'verify', '--key-stdin'], { input: 'service_dk_x\n' })
  t.match(verified.asked, [{ path: '/v1/keys/verify', body: '{"key":"service_dk_x"}' }])
  t.match(await run(['key', 'verify', '--key', 'x']), { code: 2, asked: { length: 0 } })
})

await t.test('what affects many can be tried first', async (t) => {
  const since = ['--since', '2026-01-31T00:00:00Z']
  for (const verb of ['retry-failed', 'replay']) {
    const tried = await run(['webhook', verb, 'w1', ...since, '--dry-run'])
    t.match(JSON.parse(tried.asked[0]?.body ?? ''), { dry_run: true })
    const done = await run(['webhook', verb, 'w1', ...since])
    t.notOk('dry_run' in (JSON.parse(done.asked[0]?.body ?? '') as object))
    const help = (await run(['webhook', verb, '--help'])).out
    t.match(help, /--dry-run +Only count/)
    t.notMatch(help, '--no-dry-run')
  }
  t.match((await run(['webhook', 'update', '--help'])).out, '--no-standard-headers')
})

await t.test('every example of the help can be typed', async (t) => {
  const groups = new Set(
    FAMILIES.flatMap(({ operations }) => operations.map(({ command }) => command ?? '')),
  )
  groups.delete('')
  for (const command of groups) {
    const [group = '', verb = ''] = command.split(' ')
    const { out } = await run([group, verb, '--help'])
    const [, example = ''] = /Example:\n {2}keyhook (.+)\n/.exec(out) ?? []
    const answers = [{ status: 200, text: '{"id":"r1","status":"succeeded"}' }]
    const ran = await run(words(example), { answers, input: 'a password' })
    t.match(ran, { code: 0, err: '', asked: { length: 1 } }, example)
  }
})

await t.test('an example of a query shows its flags as they are typed', async (t) => {
  for (const [initial, flag] of [
    ['true', '--initial'],
    ['false', '--no-initial'],
  ] as const) {
    const families = FAMILIES.map((family) => ({
      ...family,
      operations: family.operations.map((operation) =>
        operation.id === 'edits.list'
          ? { ...operation, example: { ...operation.example, query: { initial } } }
          : operation,
      ),
    }))
    const { out } = await run(['edit', 'list', '--help'], { families })
    t.match(out, new RegExp(`Example:\\n {2}keyhook edit list \\S+ ${flag}\\n`))
  }
})

/** As a POSIX shell reads an example: single quotes are its only quoting. */
function words(line: string): readonly string[] {
  return Array.from(line.matchAll(/(?:'[^']*'|\\.|[^\s'])+/g), ([word]) =>
    word.replaceAll(/'([^']*)'|\\(.)/g, '$1$2'),
  )
}

await t.test('webhook test exits 1 when the test was not delivered, and says why', async (t) => {
  const answered = (status: string, attempts: readonly object[]): Answer => ({
    status: 200,
    text: JSON.stringify({ id: 'd1', status, attempts }),
  })
  const test = (answer: Answer, ...more: readonly string[]) =>
    run(['webhook', 'test', 'w1', ...more], { answers: [answer] })
  const error = { code: 'http_status', message: 'The receiver did not answer with a 2xx status.' }
  const failed = answered('exhausted', [{ response: { status_code: 500 }, error }])
  t.match(await test(failed), {
    code: 1,
    out: /exhausted/,
    err: /^keyhook: The test was not delivered, the receiver answered 500: The receiver did not/,
  })
  const json = await test(failed, '--json')
  t.match(json, { code: 1, err: '' })
  t.match(JSON.parse(json.out), { status: 'exhausted' })
  const unreached = answered('exhausted', [{ response: null, error }])
  t.match(await test(unreached), { code: 1, err: /not delivered: The receiver/ })
  t.match(await test(answered('delivering', [])), { code: 1, err: /it is delivering/ })
  t.match(await test(answered('succeeded', [])), { code: 0, err: '' })
})

await t.test(
  'an expiry is a duration from now or an instant, and lies in the future',
  async (t) => {
    const create = (expires: string) =>
      run(['key', 'create', '--name', 'CI', '--scopes', 'a:read', '--expires', expires])
    const DAY = 86_400_000
    const durations = { '30d': 30 * DAY, '12h': DAY / 2, '2w': 14 * DAY, '90m': DAY / 16 }
    for (const [text, span] of Object.entries(durations)) {
      const from = Date.now()
      const { asked, code } = await create(text)
      const to = Date.now()
      t.equal(code, 0, text)
      const sent = JSON.parse(asked[0]?.body ?? '') as { readonly expires_at: string }
      const at = Date.parse(sent.expires_at)
      t.ok(at >= from + span && at <= to + span, `${text} is ${sent.expires_at}`)
    }
    const instant = '2999-01-31T12:00:00Z'
    t.match((await create(instant)).asked[0]?.body, `"expires_at":"${instant}"`)
    for (const past of ['2020-01-31T12:00:00Z', '0d']) {
      t.match(await create(past), { code: 2, asked: [], err: /in the future/ }, past)
    }
    for (const text of ['30', 'd', '30 days', '-1d', 'tomorrow', '2030-01-31', '1e3d']) {
      t.match(await create(text), { code: 2, asked: [], err: /such as 12h, 30d or 2w/ }, text)
    }
    const help = (await run(['key', 'create', '--help'])).out.replaceAll(/\s+/g, ' ')
    t.match(help, /--expires <time> [^<]*30d/)
  },
)

await t.test('key list shows what each key may do', async (t) => {
  const data = [{ id: 'k1', name: 'CI', scopes: ['apps:read', 'deploy:*'], status: 'active' }]
  const text = JSON.stringify({ data, has_more: false, next_cursor: null })
  const { out } = await run(['key', 'list'], { answers: [{ status: 200, text }] })
  t.match(out, /ID +NAME +SCOPES +STATUS/)
  t.match(out, 'apps:read, deploy:*')
})

await t.test('limits and the ledger show what matters of them', async (t) => {
  const listed = async (line: readonly string[], record: object): Promise<string> => {
    const text = JSON.stringify({ data: [record], has_more: false, next_cursor: null })
    return (await run(line, { answers: [{ status: 200, text }] })).out
  }
  const budget = { name: 'budget.monthly', limit: 300, used: 100, remaining: 200 }
  const limit = { ...budget, resets_at: '2026-12-01T00:00:00.000Z', source: 'key', source_id: 'k1' }
  const limits = await listed(['billing', 'limits'], limit)
  t.match(limits, /NAME +LIMIT +USED +REMAINING +RESETS_AT +SET_BY +SOURCE_ID/)
  t.match(limits, /budget\.monthly +300 +100 +200 +2026-12-01T00:00:00\.000Z +key +k1/)
  const line = { id: 'l1', description: 'Charged: prompt edit', amount: '-0.10' }
  const ledger = await listed(['ledger', 'list'], { ...line, balance_after_micros: 900_000 })
  t.match(ledger, /ID +WHAT +AMOUNT +BALANCE_AFTER_MICROS/)
  t.match(ledger, /l1 +Charged: prompt edit +-0\.10 +900000/)
})

await t.test('a query that is true or false is a flag without a value', async (t) => {
  const { code, asked } = await run(['key', 'revoke', 'k1', '--dry-run'])
  t.equal(code, 0)
  t.equal(asked[0]?.path, '/v1/keys/k1?dry_run=true')
  t.equal((await run(['key', 'revoke', 'k1'])).asked[0]?.path, '/v1/keys/k1')
  const help = (await run(['edit', 'list', '--help'])).out
  t.match(help, /--initial +Filter: true for the edit/)
  t.match(help, '--no-initial', 'where missing, true and false differ, all three are shown')
  for (const [option, initial] of [
    ['--initial', 'true'],
    ['--no-initial', 'false'],
  ] as const) {
    const listed = await run(['edit', 'list', 'app_x', option])
    t.equal(listed.asked[0]?.path, `/v1/apps/app_x/edits?initial=${initial}`)
  }
})

await t.test('a time may be given as so long ago', async (t) => {
  for (const [text, span] of [
    ['90s', 90_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
  ] as const) {
    const from = Date.now()
    const { asked } = await run(['webhook', 'replay', 'w1', '--since', text])
    const to = Date.now()
    const { since } = JSON.parse(asked[0]?.body ?? '') as { readonly since: string }
    const at = Date.parse(since)
    t.ok(at >= from - span && at <= to - span, `${text} is ${since}`)
  }
  const instant = '2026-01-01T00:00:00Z'
  const { asked } = await run(['webhook', 'replay', 'w1', '--since', instant])
  t.match(asked[0]?.body, `"since":"${instant}"`)
  for (const text of ['yesterday', '7 days', '2026-01-01', '-1d', '']) {
    const refused = await run(['webhook', 'retry-failed', 'w1', '--since', text])
    t.match(refused, { code: 2, asked: [], err: /12h, 30d or 2w, .*2030-01-31T12:00:00Z/ }, text)
  }
})

await t.test('lists show what is looked for in them', async (t) => {
  const list = async (line: string, row: object): Promise<string> => {
    const text = JSON.stringify({ data: [row], has_more: false, next_cursor: null })
    return (await run(line.split(' '), { answers: [{ status: 200, text }] })).out
  }
  const expires_at = '2030-01-31T12:00:00.000Z'
  const key = { id: 'k1', name: 'CI', scopes: ['apps:read'], apps: ['app_1', 'app_2'], expires_at }
  t.match(await list('key list', key), /APPS +.*EXPIRES_AT[^]*app_1, app_2 +2030-01-31T12/)
  const webhook = { id: 'w1', url: 'https://a.example.com', events: ['order.*'] }
  t.match(await list('webhook list', webhook), /EVENTS\n.*order\.\*/)
  const entry = {
    id: 'a1',
    actor: { type: 'key', id: 'k1' },
    action: 'key.revoked',
    target: { type: 'key', id: 'k2' },
    protocol: 'mcp',
    client: 'a client',
  }
  t.match(
    await list('audit list', { ...entry, at: expires_at }),
    /ACTOR +ACTION +TARGET +PROTOCOL +CLIENT\n.*key k1 +key\.revoked +key k2 +mcp +a client/,
  )
  t.match(
    await list('audit list', { ...entry, actor: { type: 'operator', id: null } }),
    /operator +key\.revoked/,
  )
})

await t.test('accounts are listed and shown with their key limit and suspension', async (t) => {
  const suspended_at = '2026-01-31T12:00:00.000Z'
  const account = { id: 'a1', name: 'Acme', plan: 'pro', key_limit: 7, suspended_at }
  const text = JSON.stringify({ data: [account], has_more: false, next_cursor: null })
  const { out } = await run(['account', 'list'], { answers: [{ status: 200, text }] })
  t.match(out, /KEY_LIMIT +SUSPENDED_AT\n.* 7 +2026-01-31T12/)
  const answers = [{ status: 200, text: JSON.stringify(account) }]
  const shown = await run(['account', 'get', 'a1'], { answers })
  t.equal(shown.asked[0]?.path, '/v1/accounts/a1')
  t.match(shown.out, /key_limit +7\nsuspended_at +2026-01-31T12/)
})

await t.test('deliveries are listed with how far they are and how they ended', async (t) => {
  const delivery = {
    id: 'd1',
    event_type: 'order.paid',
    status: 'exhausted',
    attempt_count: 4,
    next_attempt_at: null,
    created_at: '2026-01-31T12:00:00.000Z',
    response: { status_code: 503, body: 'later' },
    error: { code: 'http_status', reason: null, message: 'm' },
    attempts: [{ number: 4, started_at: '2026-01-31T12:00:07.000Z', duration_ms: 40 }],
  }
  const error = { code: 'connect', reason: 'refused', message: 'm' }
  const waiting = {
    ...delivery,
    id: 'd2',
    status: 'pending',
    attempt_count: 1,
    next_attempt_at: '2026-01-31T13:00:00.000Z',
    response: null,
    error,
  }
  const untried = { ...delivery, id: 'd3', status: 'skipped', attempt_count: 0, attempts: [] }
  const data = [delivery, waiting, { ...untried, response: null, error: null }]
  const text = JSON.stringify({ data, has_more: false, next_cursor: null })
  const { out } = await run(['webhook', 'deliveries', 'w1'], { answers: [{ status: 200, text }] })
  t.same(
    out.split('\n').map((line) => line.split(/ {2,}/)),
    [
      [
        'ID',
        'EVENT_TYPE',
        'STATUS',
        'ATTEMPT_COUNT',
        'LAST_RESULT',
        'NEXT_ATTEMPT_AT',
        'FINISHED_AT',
        'CREATED_AT',
      ],
      ['d1', 'order.paid', 'exhausted', '4', '503', '-', '2026-01-31T12:00:07.040Z', CREATED],
      ['d2', 'order.paid', 'pending', '1', 'refused', '2026-01-31T13:00:00.000Z', '-', CREATED],
      ['d3', 'order.paid', 'skipped', '0', '-', '-', '-', CREATED],
      [''],
    ],
  )
})

await t.test('key revoke says how much it ends, and a dry run that it ended nothing', async (t) => {
  const revoke = async (record: object, ...options: readonly string[]): Promise<string> => {
    const answers = [{ status: 200, text: JSON.stringify({ id: 'k1', ...record }) }]
    return (await run(['key', 'revoke', 'k1', ...options], { answers })).out
  }
  const active = { status: 'active', keys_total: 3, webhooks_total: 1 }
  t.match(
    await revoke(active, '--dry-run'),
    /\nNothing was changed\. This would revoke 3 keys: this one and 2 below it\. 1 webhook set by them would be kept\.\n$/,
  )
  t.match(await revoke(active, '--dry-run', '--webhooks', 'disable'), /would be disabled\.\n$/)
  const revoked = { status: 'revoked', keys_total: 1, webhooks_total: 0 }
  t.match(await revoke(revoked), /\nRevoked 1 key\. 0 webhooks set by it were kept\.\n$/)
  t.match(await revoke(revoked, '--dry-run'), /\nNothing was changed: the key is already revoked/)
  t.notMatch(await revoke(active, '--dry-run', '--json'), 'Nothing was changed')
  const { out } = await run(['key', 'revoke', '--help'])
  t.match(out, /--dry-run +Only return what would be revoked/)
  t.notMatch(out, '--no-dry-run', 'leaving it out says the same')
})

await t.test('an operator who names no account is told how to', async (t) => {
  const error = { code: 'account_required', message: 'Keyhook-Account', request_id: 'req_1' }
  const refusal = { status: 400, text: JSON.stringify({ error }) }
  const { code, err } = await run(['key', 'list'], { answers: [refusal] })
  t.equal(code, 1)
  t.match(err, 'Name the account with --account <id>; `keyhook account list` shows them.')
  t.notMatch(err, 'Keyhook-Account')

  const listing = async (...names: readonly string[]) =>
    run(['key', 'list'], { answers: [refusal, page(names, null)] })
  const first = await listing()
  t.equal(first.asked[1]?.path, '/v1/accounts?limit=10')
  t.match(first.err, 'There is no account yet. Create the owner')
  t.match(first.err, '`keyhook owner create --email <you> --password-stdin`')
  t.match(first.err, 'KEYHOOK_OWNER_EMAIL and KEYHOOK_OWNER_PASSWORD')
  const several = await listing('acct_1', 'b')
  t.notMatch(several.err, 'There is no account yet')
  t.match(several.err, /\n {2}--account acct_1 {2}acct_1\n {2}--account b {7}b\n$/)
  const more = await run(['key', 'list'], { answers: [refusal, page(['a'], 'c1')] })
  t.match(more.err, /\n {2}--account a {2}a\n {2}and more\n$/)
  const asJson = await run(['key', 'list', '--json'], { answers: [refusal, page([], null)] })
  t.strictSame([asJson.asked.length, asJson.err], [1, ''])
})

await t.test(
  'a record that is not found is named by its id, and where that is shown',
  async (t) => {
    for (const group of ['key', 'webhook']) {
      const error = { code: `${group}_not_found`, message: 'GET /v1', request_id: 'req_1' }
      const refusal = { status: 404, text: JSON.stringify({ error }) }
      const { code, err } = await run([group, 'get', 'walk'], { answers: [refusal] })
      t.equal(code, 1)
      t.match(err, `\`keyhook ${group} list\` shows the ids.`)
    }
  },
)

await t.test('a family of events that matches no known type is warned of', async (t) => {
  const created = { status: 201, text: '{"id":"w1"}' }
  const typesOf = (types: readonly string[], next_cursor: string | null) => ({
    status: 200,
    text: JSON.stringify({
      data: types.map((type) => ({ type, scope: 'events:read' })),
      has_more: next_cursor !== null,
      next_cursor,
    }),
  })
  const listed = [
    typesOf(['app.deployed'], 'c1'),
    typesOf(['order.line.added', 'order.paid'], null),
  ]
  const create = (events: string) => [
    'webhook',
    'create',
    '--url',
    'https://a.example',
    '--events',
    events,
  ]

  const misspelt = await run(create('ordr.*,order.lnie.*,app.*,*'), {
    answers: [created, ...listed],
  })
  t.match(misspelt, { code: 0, out: 'id  w1\n' })
  t.same(
    misspelt.asked.map(({ method, path }) => `${method} ${path}`),
    [
      'POST /v1/webhooks',
      'GET /v1/event-types?limit=100',
      'GET /v1/event-types?limit=100&cursor=c1',
    ],
  )
  const later = 'Types of this family that are declared later will match.\n'
  t.equal(
    misspelt.err,
    `keyhook: warning: No known event type matches ordr.*. Did you mean "order.*"? ${later}` +
      `keyhook: warning: No known event type matches order.lnie.*. Did you mean "order.line.*"? ${later}`,
  )
  const update = ['webhook', 'update', 'w1', '--events', 'invoices.*']
  const far = await run(update, { answers: [created, ...listed] })
  t.equal(far.err, `keyhook: warning: No known event type matches invoices.*. ${later}`)

  const known = await run(create('order.*,order.line.*'), { answers: [created, ...listed] })
  t.equal(known.err, '')
  t.equal((await run(create('order.paid,*'), { answers: [created] })).asked.length, 1)
  const refusal = { status: 403, text: '{"error":{"code":"x","message":"y","request_id":"z"}}' }
  t.match(await run(create('ordr.*'), { answers: [created, refusal] }), { code: 0, err: '' })
  t.equal((await run(create('ordr.*'), { answers: [refusal] })).asked.length, 1)
})

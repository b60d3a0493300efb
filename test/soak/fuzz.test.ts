import t from 'tap'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { createPasswords } from '../../daemon/families/accounts/password.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { keysFamily } from '../../daemon/families/keys/family.ts'
import { mountAlone } from '../support/mounted.ts'
import { createResolver } from '../../daemon/http/resolve.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { startDeployer } from '../support/deploys.ts'
import { createPlaces } from '../support/fuzz-places.ts'
import type { InputClass } from '../support/fuzz-requests.ts'
import { CHANGES, draftValid, printRequest } from '../support/fuzz-requests.ts'
import { openRoles } from '../support/fuzz-roles.ts'
import type { RawAnswer, RawRequest } from '../support/in-process.ts'
import { askInProcess } from '../support/in-process.ts'
import type { DocumentedOperation } from '../support/openapi.ts'
import { DOCUMENTED, faultsOf, faultsOfAnswer } from '../support/openapi.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { chooseSeed, createSeededRandom } from '../support/seeded-random.ts'
import { sized } from '../support/soak.ts'
import type { AnyBody } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const REQUESTS = sized(1500, 5000, 10_000)
/** Sweeps of valid input after those, at most, until enough of the operations have succeeded. */
const MORE_SWEEPS = 20
const INPUTS = Object.keys(CHANGES) as InputClass[]
/** Share of the operations that must succeed at times: were most refused, little would be shown. */
const REACHED = 0.9
/**
 * A service without users, a file that failed, a deployment that is still to be begun, an error in a page, and
 * money where nothing is charged: no request makes these.
 */
const OUT_OF_REACH: readonly string[] = [
  'accounts.set_up',
  'files.retry',
  'deploy.cancel',
  'observe.get_error',
  'observe.resolve_error',
  'billing.cancel',
  'billing.grant',
  'billing.invoice',
  'billing.payment_method',
  'billing.portal',
  'billing.revoke',
  'billing.subscribe',
  'billing.topup',
  'billing.update_wallet',
]
const OPERATOR_TOKEN = 'operator-token-of-the-tests'

// Most of what is asked is refused, and the stack trace of a refusal costs more than the refusal.
Error.stackTraceLimit = 0

type Ask = (request: RawRequest) => Promise<RawAnswer>

async function openSite(
  t: Parameters<typeof createWorld>[0],
  onDefect: (cause: unknown) => void,
): Promise<Ask> {
  const passwords = createPasswords({ cost: { ln: 4, r: 8, p: 1 } })
  // All requests come from one network, which would soon have guessed too often.
  const cheap = createAccountsFamily({ passwords, guesses: { check: (_, __, work) => work() } })
  const families = FAMILIES.map((family) => (family.name === cheap.name ? cheap : family))
  const { platform } = await createWorld(t, {
    families: families.filter((family) => family !== keysFamily),
    names: { 'hooks.example.com': ['127.0.0.1'] },
    // Nobody takes prompts up here: they wait, and can be canceled.
    editor: createMemoryEditor(),
  })
  // Whoever waits for a deployment waits for its end.
  startDeployer(t, { platform })
  const step = mountAlone({
    platform,
    families,
    resolve: createResolver({ platform, operatorToken: OPERATOR_TOKEN }),
    rateLimits: { reads: 0, writes: 0 },
    onError: ({ status, cause }) => {
      if (status >= 500 && status !== 501) onDefect(cause)
    },
  })
  return askInProcess(step)
}

/** What makes things comes before what reads, changes and removes them. */
const METHODS: readonly string[] = ['PUT', 'POST', 'GET', 'PATCH', 'DELETE']
const OPERATIONS = [...DOCUMENTED].sort((a, b) => turnOf(a) - turnOf(b))

/** What is set of an app comes after the app. */
function turnOf({ method, path }: DocumentedOperation): number {
  return METHODS.indexOf(path.startsWith('/v1/apps/') && method === 'PUT' ? 'POST' : method)
}

/** The operation that answers a request; undefined when none does. */
function operationAt({ method, path }: RawRequest): DocumentedOperation | undefined {
  const [pathname = ''] = path.split('?', 1)
  const candidates = DOCUMENTED.filter((one) => one.method === method)
  const fixed = candidates.find((one) => one.path === pathname)
  return fixed ?? candidates.find((one) => patternOf(one.path).test(pathname))
}

/** A path with parameters is also taken with a slash behind it. */
function patternOf(path: string): RegExp {
  const pattern = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(path.includes('{') ? `^${pattern}/?$` : `^${pattern}$`)
}

/** Successes that are no JSON, each with a header that it needs. */
const OTHER_TYPES: Readonly<Record<string, readonly [name: string, value: string]>> = {
  'application/octet-stream': ['x-content-type-options', 'nosniff'],
  'text/csv': ['content-disposition', 'attachment'],
  'text/event-stream': ['x-accel-buffering', 'no'],
}

function isJson({ headers }: RawAnswer): boolean {
  return String(headers['content-type']).startsWith('application/json')
}

/** What is wrong with an answer by the document alone. */
function judge(request: RawRequest, { status, headers, text }: RawAnswer): readonly string[] {
  const operation = operationAt(request)
  if (status === 304) return operation?.responses[status] === undefined ? ['answered 304'] : []
  const [type = ''] = String(headers['content-type']).split(';', 1)
  if (Object.hasOwn(OTHER_TYPES, type)) {
    const isDeclared = operation?.responses[status]?.content !== undefined && status < 300
    const [name = '', value] = OTHER_TYPES[type] ?? []
    return isDeclared && headers[name] === value ? [] : [`${status} as ${type}`]
  }
  const body: unknown = JSON.parse(text)
  const faults =
    operation === undefined
      ? faultsOfNoRoute(status, body)
      : faultsOfAnswer(operation, status, body)
  return [
    ...faults,
    // Without what it needs an operation says so, and that is no fault of it.
    ...(status >= 500 && status !== 501 ? [`answered ${status}`] : []),
    ...(String(headers['content-type']) === 'application/json; charset=utf-8'
      ? []
      : [`content type ${String(headers['content-type'])}`]),
    ...(typeof headers['x-request-id'] === 'string' ? [] : ['no X-Request-Id']),
  ]
}

function faultsOfNoRoute(status: number, body: unknown): readonly string[] {
  if (status !== 404 && status !== 405) return [`status ${status} where no operation is`]
  return faultsOf(body, 'components', 'schemas', 'Error')
}

/** An answer, and everything about its request. */
interface Asked {
  readonly operation: DocumentedOperation
  readonly role: string
  readonly input: InputClass
  readonly request: RawRequest
  readonly answer: RawAnswer
}

/** Asks once of every operation, as everyone, with input of one class. */
async function sweep(ask: Ask, random: SeededRandom, input: InputClass): Promise<Asked[]> {
  const places = createPlaces()
  const asked: Asked[] = []
  for (const [role, credentials] of Object.entries(await openRoles(ask, OPERATOR_TOKEN))) {
    for (const operation of OPERATIONS) {
      const params = places.draw(operation, random)
      const draft = draftValid(operation, params, credentials, random)
      const request = printRequest(random.pick(CHANGES[input])(draft, random))
      const answer = await ask(request)
      if (answer.status < 300 && isJson(answer)) {
        places.learn(operation, params, JSON.parse(answer.text) as AnyBody)
      }
      asked.push({ operation, role, input, request, answer })
    }
  }
  return asked
}

/** One line for each kind of fault, with a request that shows it. */
function describeFaults(asked: readonly Asked[]): readonly string[] {
  const lines = new Map<string, string>()
  for (const { operation, role, input, request, answer } of asked) {
    for (const fault of judge(request, answer)) {
      const { method, path, headers, body } = request
      const shown = [method, path, JSON.stringify(headers), String(body), '->', answer.text]
      const cut = shown.map((part) => part.slice(0, 300)).join(' ')
      lines.set(
        `${operation.operationId} ${fault}`,
        `${operation.operationId}: ${fault} (${role}, ${input}) ${cut}`,
      )
    }
  }
  return [...lines.values()]
}

/** `valid 2xx 576`: how many requests of a class met a class of status. */
function countAnswers(asked: readonly Asked[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { input, answer } of asked) {
    const name = `${input} ${Math.floor(answer.status / 100)}xx`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => `${name} ${count}`).sort()
}

/** The operations that have succeeded. */
function reachedBy(asked: readonly Asked[]): ReadonlySet<DocumentedOperation> {
  return new Set(
    asked.filter(({ answer }) => answer.status < 300).map(({ operation }) => operation),
  )
}

function isEnough(asked: readonly Asked[]): boolean {
  const within = OPERATIONS.filter(({ operationId }) => !OUT_OF_REACH.includes(operationId))
  return reachedBy(asked).size >= within.length * REACHED
}

await t.test('whatever is sent, the answer is one that the document describes', async (t) => {
  const seed = chooseSeed()
  t.comment(`SEED=${seed}`)
  const open = () => openSite(t, (cause) => t.comment(cause))
  const ask = await open()
  const random = createSeededRandom(seed)
  const asked: Asked[] = []
  while (asked.length < REQUESTS) {
    for (const input of INPUTS) asked.push(...(await sweep(ask, random, input)))
  }
  // A seed may have had no luck with what everything else is asked of, such as an app, or have locked itself out, as with a
  // suspended account: each further sweep has a site of its own.
  for (let more = MORE_SWEEPS; more > 0 && !isEnough(asked); more--) {
    asked.push(...(await sweep(await open(), random, 'valid')))
  }
  t.comment(`${asked.length} requests: ${countAnswers(asked).join(', ')}`)
  t.same(describeFaults(asked), [])

  const reached = reachedBy(asked)
  const missed = OPERATIONS.filter((operation) => !reached.has(operation))
  t.comment(`never carried out: ${missed.map(({ operationId }) => operationId).join(', ')}`)
  t.ok(isEnough(asked))
})

import t from 'tap'
import { runCases } from '../../plugins/conformance.ts'
import { editCases, type EditHarness } from '../../plugins/edits/conformance.ts'
import { createWorld, failureOf } from '../../plugins/edits/conformance/world.ts'
import { createMemoryEditor, ENDLESS_PROMPT } from '../../plugins/edits/memory.ts'
import { createNoEditor } from '../../plugins/edits/none.ts'
import type { OpenAiEditorLimits } from '../../plugins/edits/openai.ts'
import { clockOf, KEY, PAGE, reach, startEditing, until, written } from '../support/editing.ts'
import { FAKE_MODEL, type FakeTurn } from '../support/fake-model.ts'

const { fake, fetch, editorOf, carryOut, asked } = await startEditing(t)

const SUITES: Readonly<Record<string, () => Promise<EditHarness>>> = {
  memory: async () => ({
    editor: createMemoryEditor(),
    promptFor: (operations) => JSON.stringify(operations),
    endlessPrompt: ENDLESS_PROMPT,
    openUnconfigured: async () => createNoEditor(),
  }),
  'OpenAI, over a fake': async () => {
    const editor = editorOf()
    return {
      editor,
      promptFor: (operations) => fake.script({ text: written(operations) }),
      endlessPrompt: fake.script({ text: 'SUMMARY: I', ends: 'quiet' }),
      openUnconfigured: async () => editorOf({ model: undefined }),
      close: async () => editor.close?.(),
    }
  },
}

for (const [name, makeHarness] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of an editor`, async (t) => {
    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    t.same(runCases(editCases, makeHarness, register, ['close', 'configuration']), [])
  })
}

await t.test('whatever goes wrong has its code, and the key is in none of it', async (t) => {
  const echo = JSON.stringify({ error: { message: `Wrong key ${KEY}`, code: KEY } })
  const code = (value: string): string => JSON.stringify({ error: { code: value } })
  const never = new Promise(() => undefined)
  const quick = { retries: 0, firstByte: 40, idle: 40 }
  const once = { retries: 0 }
  const FAULTS: Readonly<
    Record<string, readonly [string, FakeTurn, Partial<OpenAiEditorLimits>?]>
  > = {
    'a wrong key, which the server repeats': ['model_not_configured', { status: 401, body: echo }],
    'a model that is not there': ['model_not_configured', { status: 404 }],
    'a redirect': ['model_not_configured', { status: 302, headers: { location: '/' } }],
    'a setting it does not know': ['model_not_configured', { status: 400 }],
    'a 429': ['model_rate_limited', { status: 429 }, once],
    'a quota': ['model_rate_limited', { status: 429, body: code('insufficient_quota') }],
    'a 500': ['model_unavailable', { status: 500, body: echo }, once],
    'no first byte': ['model_unavailable', { before: never }, quick],
    silence: ['model_unavailable', { text: PAGE, ends: 'quiet' }, quick],
    'a broken connection': ['model_unavailable', { text: PAGE, ends: 'cut' }],
    'an end without a reason': ['model_unavailable', { text: PAGE, ends: 'unended' }],
    'an error in the stream': ['model_unavailable', { text: PAGE, ends: 'error' }],
    'a malformed chunk': ['model_answer_invalid', { text: PAGE, ends: 'malformed' }],
    'an answer that was cut': ['model_answer_cut', { text: PAGE, ends: 'length' }],
    'a refusal': ['model_refused', { refusal: 'I will not.' }],
    'a filter': ['model_refused', { text: PAGE, ends: 'content_filter' }],
    'a filter of the prompt': ['model_refused', { status: 400, body: code('content_filter') }],
    'too much context': [
      'context_too_large',
      { status: 400, body: code('context_length_exceeded') },
    ],
    'too large a request': ['context_too_large', { status: 413 }],
    'chatter without an edit': ['model_answer_invalid', { text: 'Hello! How can I help?' }],
    'an endless answer': ['answer_too_large', { text: 'x'.repeat(3000) }, { answer: 4096 }],
    'an endless line': ['model_answer_invalid', { text: 'x'.repeat(1_100_000), chunk: 2_000_000 }],
    'no time at all': ['deadline', { text: PAGE, ends: 'quiet' }, { edit: 40 }],
  }
  for (const [title, [expected, turn, limits = {}]] of Object.entries(FAULTS)) {
    let checks = 0
    const { tools } = createWorld({
      async check() {
        checks += 1
        return []
      },
    })
    const failure = await failureOf(carryOut([turn], { limits }, tools))
    t.equal(failure.code, expected, title)
    t.equal(checks, 0, 'and nothing is applied')
    const told = [failure.message, failure.stack, failure.internal, failure.cause].map(String)
    t.notMatch(told.join('\n'), KEY)
    t.notMatch(JSON.stringify(failure), KEY)
  }
  const nowhere = { url: 'http://127.0.0.1:9/v1' }
  const away = await reach(nowhere)
  t.teardown(() => away.close())
  const elsewhere = { baseUrl: nowhere.url, limits: once }
  const gone = await failureOf(carryOut([], { ...elsewhere, fetch: away.fetch }))
  t.equal(gone.code, 'model_unavailable', 'a server that is not there')
  const internal = '127.0.0.1:9: connect: refused'
  const named = (): Promise<never> => Promise.reject(Object.assign(new Error('no'), { internal }))
  const why = await failureOf(carryOut([], { fetch: named, limits: once }))
  t.equal(why.internal, `the connection failed: ${internal}`)
  t.notMatch(why.message, '127.0.0.1', 'which logs alone are told')
  const unlisted = await failureOf(carryOut([], elsewhere))
  t.equal(unlisted.code, 'model_not_configured', 'a server that the client may not reach')
  const refused = (): Promise<never> =>
    Promise.reject(Object.assign(new Error('refused'), { final: true }))
  t.equal((await failureOf(carryOut([], { fetch: refused }))).code, 'model_not_configured')
  const endless = { status: 404, body: ' '.repeat(20_000), ends: 'quiet' } as const
  t.equal((await failureOf(carryOut([endless]))).code, 'model_not_configured', 'an endless error')
  await until(() => asked(1)[0]?.isAborted === true)
  const long = await failureOf(carryOut([{}], { limits: { prompt: 5 } }))
  t.equal(long.code, 'context_too_large', 'a prompt beyond the limit')
})

await t.test('asking again', async (t) => {
  await t.test('waits as long as the server asks, or else longer each time', async (t) => {
    const waits: number[] = []
    const busy = { status: 429, headers: { 'retry-after': '7' } }
    const turns = [busy, { status: 503 }, { text: PAGE }]
    const outcome = await carryOut(turns, { clock: clockOf(waits) })
    t.equal(outcome.operations.length, 1)
    t.equal(waits[0], 7000)
    t.ok((waits[1] ?? 0) >= 1000 && (waits[1] ?? 0) <= 1500, `${waits[1]}`)
    t.equal(outcome.repaired, false)
  })

  await t.test('ends after three attempts, and before a wait that is too long', async (t) => {
    const before = fake.requests.length
    t.equal((await failureOf(carryOut([{ status: 500 }]))).code, 'model_unavailable')
    t.equal(fake.requests.length - before, 3)
    const busy = { status: 429, headers: { 'retry-after': '3600' } }
    t.equal((await failureOf(carryOut([busy]))).code, 'model_rate_limited')
    t.equal(fake.requests.length - before, 4)
  })

  await t.test('is not done once an answer has begun', async (t) => {
    const before = fake.requests.length
    await failureOf(carryOut([{ text: PAGE, ends: 'cut' }, { text: PAGE }]))
    t.equal(fake.requests.length - before, 1)
  })

  await t.test('stops with the edit', async (t) => {
    const cancel = new AbortController()
    const clock = { now: () => 0, after: () => () => undefined }
    const { tools } = createWorld({ signal: cancel.signal })
    const before = fake.requests.length
    const failing = failureOf(carryOut([{ status: 500 }], { clock }, tools))
    await until(() => fake.requests.length > before)
    cancel.abort()
    t.equal((await failing).code, 'canceled')
    t.equal(fake.requests.length - before, 1)
  })
})

await t.test('an abort reaches the server, whose answer goes no further', async (t) => {
  const cancel = new AbortController()
  const { tools, reports } = createWorld({ signal: cancel.signal })
  const failing = failureOf(carryOut([{ text: PAGE, ends: 'quiet' }], {}, tools))
  await until(() => reports.some(({ message }) => message === 'about.html'))
  t.equal(asked(1)[0]?.isAborted, false)
  cancel.abort()
  t.equal((await failing).code, 'canceled')
  await until(() => asked(1)[0]?.isAborted === true)
})

await t.test(
  'the fake’s vectors are of length one, and near for texts that share words',
  async (t) => {
    const input = ['opening hours of the shop', 'the shop and its hours', 'quantum tunnelling']
    const body = JSON.stringify({ model: FAKE_MODEL, input })
    const embed = async (): Promise<readonly (readonly number[])[]> => {
      const answer = await fetch(`${fake.url}/embeddings`, { method: 'POST', body })
      const { data } = (await answer.json()) as { data: { embedding: number[] }[] }
      return data.map(({ embedding }) => embedding)
    }
    const vectors = await embed()
    t.same(await embed(), vectors, 'the same words have the same vector')
    const dot = (a: readonly number[] = [], b: readonly number[] = []): number =>
      a.reduce((total, one, index) => total + one * (b[index] ?? 0), 0)
    for (const vector of vectors) t.ok(Math.abs(dot(vector, vector) - 1) < 1e-9)
    t.ok(dot(vectors[0], vectors[1]) > dot(vectors[0], vectors[2]))
  },
)

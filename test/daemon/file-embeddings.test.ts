import t from 'tap'
import { ConfigError, readConfig } from '../../daemon/config/config.ts'
import { openEmbedder } from '../../daemon/composition/embedder.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { clockOf } from '../../daemon/machine/ports.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import type { Passage } from '../../plugins/edits/contract.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import type { Embedder } from '../../plugins/embeddings/contract.ts'
import { EMBEDDING_ERRORS, EmbeddingError } from '../../plugins/embeddings/contract.ts'
import { createMemoryEmbedder } from '../../plugins/embeddings/memory.ts'
import { createMemoryFileProcessor } from '../../plugins/files/memory.ts'
import { ask, operationsOf, startWorker, untilEnded } from '../support/edits.ts'
import { FAKE_MODEL, startFakeModel } from '../support/fake-model.ts'
import { signal } from '../support/signal.ts'
import type { AnyBody, WorldOptions } from '../support/world.ts'
import { hang, openWorld as openFiles, until } from '../support/processing.ts'

type Scope = Parameters<typeof openFiles>[0]

const SAME = [['car', 'automobile']]

/** Files that are embedded by this, and what a search of them answers. */
async function openWorld(t: Scope, embedder: Embedder, options: WorldOptions = {}) {
  const world = await openFiles(t, createMemoryFileProcessor(), { ...options, embedder })
  const find = async (body: AnyBody) => {
    const path = `/v1/apps/${world.app}/files/search`
    return (await world.request<{ mode: string; data: AnyBody[] }>('POST', path, { body })).body
  }
  /** The mode, and the names of the files. */
  const names = async (query: string, given: AnyBody = {}): Promise<readonly unknown[]> => {
    const { mode, data } = await find({ query, ...given })
    return [mode, ...data.map(({ name }) => name)]
  }
  return { ...world, find, names }
}

/** An embedder that does at each call what the test says, before it answers as the fake does. */
function scripted(before: (call: number, signal: AbortSignal) => Promise<void> | void) {
  const fake = createMemoryEmbedder({ same: SAME })
  const seen: string[][] = []
  const embedder: Embedder = {
    model: fake.model,
    async embed(texts, signal) {
      seen.push([...texts])
      await before(seen.length, signal)
      return fake.embed(texts, signal)
    },
  }
  return { seen, embedder }
}

await t.test('what means the same in other words is found, and told apart', async (t) => {
  const world = await openWorld(t, createMemoryEmbedder({ same: SAME }))
  const { start, send, ended, find, names } = world
  start()
  for (const [name, text] of [
    ['cars.md', 'My automobile is green.'],
    ['birds.md', 'The parrot is green.'],
    ['rules.md', 'Park your car here.'],
  ] as const) {
    t.match(await ended(await send(text, name)), { status: 'processed', stage: null })
  }
  const found = await names('car')
  t.same(found.slice(0, 3), ['fused', 'rules.md', 'cars.md'], 'the word itself, then its like')
  t.match((await find({ query: 'car' })).data, [{ score: 1, ordinal: 0 }, { score: 0.5 }])
  t.same(await names('automobile', { limit: 1 }), ['fused', 'cars.md'])
})

await t.test('a search can be kept to some files, and finds nothing of another app', async (t) => {
  const world = await openWorld(t, createMemoryEmbedder({ same: SAME }))
  const { start, send, ended, names, newApp, upload, request } = world
  start()
  const cars = await send('My automobile is green.', 'cars.md')
  const rules = await send('Park your car here.', 'rules.md')
  await Promise.all([cars, rules].map(ended))
  t.same(await names('car', { files: [cars] }), ['fused', 'cars.md'])
  const app = await newApp()
  const { body } = await upload([['other.md', 'An automobile elsewhere.']], { app })
  const path = `/v1/apps/${app}/files/${body.data[0]?.id}`
  await until(async () => (await request('GET', path)).body['status'] === 'processed')
  t.same(new Set(await names('car')), new Set(['fused', 'cars.md', 'rules.md']))
})

await t.test(
  'every passage is sent with its heading, a few at a time, and its place shown',
  async (t) => {
    const { promise: held, resolve: go } = signal()
    const { seen, embedder } = scripted((call) => (call === 2 ? held : undefined))
    const { start, send, get, ended, names } = await openWorld(t, embedder)
    start({ beat: 5 })
    const parts = Array.from(
      { length: 70 },
      (_, at) => `# Part ${at}\n\n${'word '.repeat(300)}n${at}\n`,
    )
    const id = await send(parts.join('\n'), 'long.md')
    await until(
      async () => JSON.stringify((await get(id))['progress']) === '{"done":32,"total":70}',
    )
    t.match(await get(id), { status: 'processing', stage: 'embed' })
    t.same(await names('n5'), ['lexical'], 'nothing is found before the end')
    go()
    t.match(await ended(id), { status: 'processed', chunks: 70, progress: null })
    t.same(
      seen
        .filter((texts) => texts.length > 1 || texts[0]?.startsWith('Part'))
        .map(({ length }) => length),
      [32, 32, 6],
    )
    t.match(seen[0]?.[3], /^Part 3\n\n# Part 3\n\nword word .*n3$/s)
  },
)

await t.test('a model that does not answer a search leaves it to words, in time', async (t) => {
  const fails = { why: undefined as (() => Promise<never>) | undefined }
  const { embedder } = scripted(() => fails.why?.())
  const { start, send, ended, names } = await openWorld(t, embedder)
  start()
  await ended(await send('My automobile is green.', 'cars.md'))
  await ended(await send('Park your car here.', 'rules.md'))
  t.equal((await names('car'))[0], 'fused')
  const failures: readonly (() => Promise<never>)[] = [
    () => Promise.reject(new EmbeddingError('embeddings_unavailable')),
    () => Promise.reject(new EmbeddingError('embeddings_refused')),
    () => Promise.reject(new TypeError('a defect of its own')),
  ]
  for (const why of failures) {
    fails.why = why
    t.same(await names('car'), ['lexical', 'rules.md'])
  }
  // It hears of no signal: the search waits two seconds and no longer.
  fails.why = () => new Promise(() => undefined)
  t.same(await names('car'), ['lexical', 'rules.md'])
})

await t.test('files of another model, or of none, are found by their words', async (t) => {
  const first = createMemoryEmbedder({ model: 'first', same: SAME })
  const world = await openWorld(t, first)
  const { start, send, ended, names, platform } = world
  start()
  await ended(await send('My automobile is green.', 'cars.md'))
  t.same(await names('car'), ['fused', 'cars.md'])
  const second = createMemoryEmbedder({ model: 'second', same: SAME })
  Object.assign(platform.plugins, { embedder: second })
  t.same(await names('car'), ['lexical'])
  t.same(await names('green'), ['lexical', 'cars.md'])
  await ended(await send('Park your car here.', 'rules.md'))
  t.same(await names('green automobile'), ['fused', 'cars.md', 'rules.md'])
  Object.assign(platform.plugins, { embedder: undefined })
  t.same(await names('green'), ['lexical', 'cars.md'])
})

await t.test(
  'texts that get no vectors are tried again, then the file, then it fails',
  async (t) => {
    const code = 'embeddings_rate_limited'
    const failing = new Set([1, 2])
    const { seen, embedder } = scripted((call) => {
      if (failing.has(call)) throw new EmbeddingError(code, { wait: 0 })
    })
    const world = await openWorld(t, embedder)
    const { start, send, ended, names, request, app, events } = world
    start({ again: 0 }, 5)
    t.match(await ended(await send('one')), { status: 'processed', attempts: 1 })
    t.equal(seen.length, 3, 'twice in vain, once more')
    // What asks for a longer wait than is waited for is left to the next attempt.
    const long = scripted(() => {
      throw new EmbeddingError(code, { wait: 3_600_000 })
    })
    Object.assign(world.platform.plugins, { embedder: long.embedder })
    const id = await send('two', 'b.md')
    t.match(await ended(id), {
      status: 'failed',
      attempts: 3,
      chunks: null,
      error: { code, message: EMBEDDING_ERRORS[code].text },
    })
    t.equal(long.seen.length, 3)
    t.same(await names('two'), ['lexical'])
    const refused = scripted(() => {
      throw new EmbeddingError('embeddings_refused')
    })
    Object.assign(world.platform.plugins, { embedder: refused.embedder })
    await request('POST', `/v1/apps/${app}/files/${id}/retry`)
    t.match(await ended(id), {
      status: 'failed',
      attempts: 1,
      error: { code: 'embeddings_refused' },
    })
    Object.assign(world.platform.plugins, { embedder })
    await request('POST', `/v1/apps/${app}/files/${id}/retry`)
    t.match(await ended(id), { status: 'processed', error: null })
    t.same(
      (await events()).map(({ type }) => type),
      ['file.processed', 'file.failed', 'file.failed', 'file.processed'],
    )
  },
)

await t.test('a file that is deleted, or whose worker stops, waits for no model', async (t) => {
  const aborted: unknown[] = []
  const { seen, embedder } = scripted((call, signal) => {
    if (call > 2) return
    return hang(signal).catch((cause: unknown) => {
      aborted.push(cause)
      throw cause
    })
  })
  const { start, send, get, ended, request, app, names, events } = await openWorld(t, embedder)
  const worker = start({ beat: 5 })
  const gone = await send('a car', 'gone.md')
  await until(() => seen.length === 1)
  await request('DELETE', `/v1/apps/${app}/files/${gone}`)
  await until(() => aborted.length === 1)
  const id = await send('an automobile', 'kept.md')
  await until(() => seen.length === 2)
  await worker.stop()
  t.equal(aborted.length, 2)
  t.match(await get(id), { status: 'processing', attempts: 0, stage: null })
  start()
  t.match(await ended(id), { status: 'processed', attempts: 1 })
  t.same(await names('car'), ['fused', 'kept.md'])
  t.match(await events(), [{ type: 'file.processed', data: { file_id: id } }])
})

await t.test('who edits is shown what a search finds, by meaning too', async (t) => {
  const shown: (readonly Passage[])[] = []
  const editor = createMemoryEditor({
    async script(task, tools) {
      shown.push(await tools.passages('a car', 3))
      return operationsOf(task)
    },
  })
  const options = { families: [editsFamily], editor }
  const world = await openWorld(t, createMemoryEmbedder({ same: SAME }), options)
  const { start, send, ended, app } = world
  start()
  await ended(await send('My automobile is green.', 'cars.md'))
  startWorker(t, world)
  const edit = await untilEnded(world, (await ask(world, app, 'colours')).body)
  t.match(edit, { status: 'completed' })
  t.match(shown, [[{ name: 'cars.md', page: null, text: 'My automobile is green.' }]])
})

await t.test('a model is asked where the operator says, with the key of that server', async (t) => {
  const fake = await startFakeModel()
  const other = await startFakeModel()
  t.teardown(() => Promise.all([fake.close(), other.close()]))
  const ports = { clock: clockOf({}), ownHosts: [], log: createLog('silent') }
  const signal = new AbortController().signal
  const KEYHOOK_EMBEDDINGS_MODEL = 'fake-embedder'
  const sent = async (env: Readonly<Record<string, string>>, to = fake): Promise<unknown> => {
    const embedder = await openEmbedder(readConfig({ KEYHOOK_EMBEDDINGS_MODEL, ...env }), ports)
    t.equal(embedder?.model, KEYHOOK_EMBEDDINGS_MODEL)
    t.equal((await embedder?.embed(['text'], signal))?.[0]?.length, 64)
    await embedder?.close?.()
    return to.requests.at(-1)?.headers.authorization
  }
  const KEYHOOK_LLM_BASE_URL = fake.url
  const KEYHOOK_LLM_API_KEY = 'sk-of-the-language-model'
  const llm = { KEYHOOK_LLM_BASE_URL, KEYHOOK_LLM_API_KEY, KEYHOOK_LLM_MODEL: FAKE_MODEL }
  t.equal(await sent(llm), 'Bearer sk-of-the-language-model')
  t.equal(await sent({ ...llm, KEYHOOK_EMBEDDINGS_API_KEY: 'own' }), 'Bearer own')
  const elsewhere = { ...llm, KEYHOOK_EMBEDDINGS_BASE_URL: other.url }
  t.equal(await sent(elsewhere, other), undefined, 'a key goes to no other server')
  const own = { ...elsewhere, KEYHOOK_EMBEDDINGS_API_KEY: 'own' }
  t.equal(await sent(own, other), 'Bearer own')

  t.equal(await openEmbedder(readConfig(llm), ports), undefined, 'the model switches it on')
  t.throws(() => readConfig({ KEYHOOK_EMBEDDINGS_MODEL }), ConfigError)
  for (const KEYHOOK_EMBEDDINGS_BASE_URL of ['http://169.254.169.254/v1', 'ftp://a.example']) {
    t.throws(() => readConfig({ KEYHOOK_EMBEDDINGS_BASE_URL }), /KEYHOOK_EMBEDDINGS_BASE_URL/)
  }
  fake.queueVectors({ status: 302, headers: { location: `${other.url}/embeddings` } })
  const seen = other.requests.length
  await t.rejects(sent(llm), { code: 'embeddings_refused' })
  t.equal(other.requests.length, seen, 'no redirect is followed')
})

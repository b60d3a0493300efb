import { pino } from 'pino'
import t from 'tap'
import { readConfig } from '../../daemon/config/config.ts'
import { allowedModels, openEditor } from '../../daemon/composition/editor.ts'
import { clockOf, createRandom } from '../../daemon/machine/ports.ts'
import type { Log } from '../../daemon/telemetry/log.ts'
import { describeError } from '../../daemon/telemetry/log.ts'
import { until } from '../support/daemon.ts'
import {
  ask,
  createApp,
  editWorld,
  eventsOf,
  readFile,
  startWorker,
  untilEnded,
  type Edit,
} from '../support/edits.ts'
import type { FakeTurn } from '../support/fake-model.ts'
import { FAKE_MODEL, startFakeModel } from '../support/fake-model.ts'
import { signal } from '../support/signal.ts'
import type { AnyBody, World } from '../support/world.ts'
import { freePort } from '../support/free-port.ts'

const KEY = 'sk-very-secret-0123456789'

const fake = await startFakeModel()
t.teardown(() => fake.close())

const random = createRandom()

/** A world whose prompts are carried out by the fake, over the guarded client. */
async function promptWorld(
  t: Parameters<typeof editWorld>[0],
  { url, log }: { readonly url?: string; readonly log?: Log } = {},
): Promise<World> {
  const config = readConfig({
    KEYHOOK_LLM_BASE_URL: url ?? fake.url,
    KEYHOOK_LLM_API_KEY: KEY,
    KEYHOOK_LLM_MODEL: FAKE_MODEL,
    KEYHOOK_LLM_MODELS: 'another-model',
  })
  const editor = await openEditor(config, { clock: clockOf({}), random, ownHosts: [] })
  t.teardown(async () => editor.close?.())
  const world = await editWorld(t, editor, allowedModels(config))
  startWorker(t, world, {}, log)
  return world
}

const FILE = 'SUMMARY: Says when we are open.\n\nFILE hours.html\n````\n<h1>9 to 5</h1>\n````\n'

function patch(search: string, replace: string): string {
  return `SUMMARY: Another colour.\n\nEDIT style.css\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`
}

function wish(...turns: readonly FakeTurn[]): string {
  return `Change the site. ${fake.script(...turns)}`
}

void t.test('a prompt waits its turn, is carried out, and makes one revision', async (t) => {
  const world = await promptWorld(t)
  const { id } = await createApp(world)
  const accepted = await ask(world, id, wish({ text: FILE }))
  t.match(accepted, {
    status: 202,
    body: { kind: 'prompt', status: 'queued', initial: false, queue_position: 1, model: null },
  })
  const edit = await untilEnded(world, accepted.body)
  t.match(edit, {
    status: 'completed',
    summary: 'Says when we are open.',
    model: FAKE_MODEL,
    base_revision: 1,
    result_revision: 2,
    changed_files: [{ path: 'hours.html', change: 'added' }],
    usage: { estimated: false, cached_tokens: 1 },
    error: null,
    queue_position: null,
  })
  t.match(await readFile(world, id, 'hours.html'), '<h1>9 to 5</h1>')
  t.match((await world.request('GET', `/v1/apps/${id}/revisions`)).body['data'], [
    { revision: 2, message: 'Says when we are open.', edit_id: edit.id },
    { revision: 1 },
  ])
  const at = `/v1/apps/${id}/edits/${edit.id}/logs`
  const { body } = await world.request<{ data: AnyBody[] }>('GET', at)
  const messages = body.data.map(({ message }) => message)
  t.ok(messages.includes('Asking the language model.'))
  t.ok(messages.includes('hours.html'))
  t.equal(messages.at(-1), 'Revision 2 is made.')
  t.same(
    body.data.map(({ number }) => number),
    messages.map((_, index) => index + 1),
  )
  const first = await world.request('GET', `${at}?limit=1`)
  const rest = await world.request('GET', `${at}?cursor=${String(first.body['next_cursor'])}`)
  t.same([first.body['data'], rest.body['data']].flat(), body.data, 'page by page')
  t.match(
    (await eventsOf(world)).filter(({ type }) => type.startsWith('edit.')),
    [{ type: 'edit.completed', data: { edit_id: edit.id, kind: 'prompt', result_revision: 2 } }],
  )
  const [request] = fake.requests.slice(-1)
  t.equal(request?.headers.authorization, `Bearer ${KEY}`)
  t.match(request?.body, { model: FAKE_MODEL })
  t.match(JSON.stringify(request?.messages), 'index.html')
})

void t.test(
  'whoever waits is answered with the end, and a replay with what was committed',
  async (t) => {
    const world = await promptWorld(t)
    const { id } = await createApp(world)
    const asking = {
      body: { prompt: wish({ text: FILE }), model: 'another-model', message: 'Hours' },
      headers: { 'idempotency-key': 'one' },
    }
    const path = `/v1/apps/${id}/edits?wait=25`
    const made = await world.request<Edit>('POST', path, asking)
    t.match(made, {
      status: 201,
      body: { status: 'completed', result_revision: 2, message: 'Hours' },
    })
    t.match(fake.requests.at(-1)?.body, { model: 'another-model' })
    const again = await world.request('POST', path, asking)
    t.match(again, { status: 202, body: { id: made.body.id, status: 'queued' } })
    t.equal((await world.request<{ data: [] }>('GET', `/v1/apps/${id}/edits`)).body.data.length, 1)
  },
)

void t.test(
  'an answer that does not fit is repaired once, or the edit fails and changes nothing',
  async (t) => {
    const world = await promptWorld(t)
    const { id } = await createApp(world)
    const css = String(await readFile(world, id, 'style.css'))
    const line =
      css.split('\n').find((one) => one.includes(';') && css.split(one).length === 2) ?? ''
    const right = { text: patch(line, '  color: red;') }
    const repaired = await ask(
      world,
      id,
      wish({ text: patch('is nowhere', 'x') }, right),
      '?wait=25',
    )
    t.match(repaired, { status: 201, body: { status: 'completed', result_revision: 2 } })
    t.equal(await readFile(world, id, 'style.css'), css.replace(line, '  color: red;'))

    const failures: readonly (readonly [FakeTurn, AnyBody])[] = [
      [{ text: 'I would rather not.' }, { code: 'model_answer_invalid', class: 'model' }],
      [{ text: patch('is nowhere', 'x') }, { code: 'patch_not_applied', class: 'model' }],
      [{ status: 401 }, { code: 'model_not_configured', class: 'configuration', retryable: false }],
      [{ status: 302, headers: { location: fake.url } }, { code: 'model_not_configured' }],
      [
        { text: FILE, ends: 'length' },
        { code: 'model_answer_cut', class: 'model' },
      ],
      [
        { text: FILE, ends: 'cut' },
        { code: 'model_unavailable', retryable: true },
      ],
      [{ refusal: 'No.' }, { code: 'model_refused', class: 'request' }],
    ]
    for (const [turn, error] of failures) {
      const { status, body } = await ask(world, id, wish(turn), '?wait=25')
      t.match(
        [status, body],
        [201, { status: 'failed', error, result_revision: null }],
        String(error['code']),
      )
      const told = (await eventsOf(world)).at(-1)
      const { code } = error
      t.match(told, {
        type: 'edit.failed',
        data: { app_id: id, edit_id: body.id, error: { code }, charged_micros: 0 },
      })
    }
    t.match(await world.request('GET', `/v1/apps/${id}`), {
      body: { current_revision: 2, status: 'ready' },
    })
  },
)

void t.test('what was changed meanwhile is kept, or the edit gives way to it', async (t) => {
  const world = await promptWorld(t)
  const { id } = await createApp(world)
  const outcome = async (path: string) => {
    const { promise: before, resolve: answer } = signal()
    const seen = fake.requests.length
    const { body } = await ask(world, id, wish({ text: FILE, before }))
    await until('the model is asked', () => fake.requests.length > seen)
    const { current_revision: base_revision } = (await world.request('GET', `/v1/apps/${id}`)).body
    const operations = [{ op: 'write', path, content: 'meanwhile' }]
    const given = { body: { operations, base_revision } }
    t.equal((await world.request('POST', `/v1/apps/${id}/edits`, given)).status, 201)
    answer()
    return untilEnded(world, body)
  }
  t.match(await outcome('other.html'), {
    status: 'completed',
    base_revision: 1,
    result_revision: 3,
    changed_files: [{ path: 'hours.html', change: 'added' }],
  })
  t.equal(await readFile(world, id, 'other.html'), 'meanwhile')
  t.match(await readFile(world, id, 'hours.html'), '9 to 5')
  t.match(await outcome('hours.html'), { status: 'failed', error: { code: 'revision_conflict' } })
  t.equal(await readFile(world, id, 'hours.html'), 'meanwhile')
})

void t.test('what the app knows is given with the prompt, and of no other app', async (t) => {
  const world = await promptWorld(t)
  const { id } = await createApp(world)
  const other = await createApp(world)
  await know(world, id, 'The workshop opens at seven.')
  await know(world, other.id, 'The workshop closes at nine.')
  const prompt = `When does the workshop open? ${fake.script({ text: FILE })}`
  t.match(await ask(world, id, prompt, '?wait=25'), { body: { status: 'completed' } })
  const sent = JSON.stringify(fake.requests.at(-1)?.messages)
  t.match(sent, 'The workshop opens at seven.')
  t.notMatch(sent, 'closes at nine')
})

/** A knowledge-base file that is processed. */
async function know({ platform, account }: World, app_id: string, text: string): Promise<void> {
  const { store, newId, clock } = platform
  const now = clock.now()
  const id = newId()
  await store.write(async (tx) => {
    await tx.files.insert({
      id,
      app_id,
      account_id: account.id,
      name: 'manual.txt',
      content_type: 'text/plain',
      size: text.length,
      sha256: 'ab'.repeat(32),
      status: 'queued',
      chunks: null,
      characters: null,
      error: null,
      attempts: 0,
      stage: null,
      done: 0,
      total: null,
      created_by: { type: 'operator', id: null },
      created_at: now,
      processed_at: null,
    })
    const asked = { claim: id, now, lease_until: now + 1000, deadline_at: now + 1000 }
    const job = await tx.jobs.claim('file', asked)
    if (job !== undefined) await tx.files.begin(job)
    const chunk = { ordinal: 0, text, heading: null, page: null, start: 0, end: text.length }
    await tx.files.addChunks(id, id, [chunk])
    await tx.files.finish(id, id, now, {
      status: 'processed',
      content_type: 'text/plain',
      chunks: 1,
      characters: text.length,
    })
  })
}

void t.test('the key of the model is in no row of the database', async (t) => {
  const world = await promptWorld(t)
  const { id } = await createApp(world)
  const { body } = await ask(world, id, wish({ status: 401, body: `{"error":"bad ${KEY}"}` }))
  const edit = await untilEnded(world, body)
  const { rows } = await world.platform.store.edits.list({
    app_id: id,
    status: null,
    kind: null,
    initial: null,
    limit: 10,
    after: null,
  })
  const lines = await world.platform.store.jobs.lines(edit.id, 0, 100)
  t.equal(rows.length, 1)
  t.notMatch(JSON.stringify([rows, lines, await eventsOf(world)]), KEY)
})

void t.test(
  'the log of an edit whose model is not there names its server, not the key',
  async (t) => {
    const lines: string[] = []
    const write = (line: string): void => void lines.push(line)
    const log = pino({ level: 'warn', serializers: { err: describeError } }, { write })
    const port = await freePort()
    const world = await promptWorld(t, { url: `http://127.0.0.1:${port}/v1`, log })
    const { id } = await createApp(world)
    const { body } = await ask(world, id, 'Change the site.', '?wait=25')
    t.match(body, { status: 'failed', error: { code: 'model_unavailable' } })
    t.notMatch(JSON.stringify(body), String(port), 'callers are not told')
    await until('it is logged', () => lines.length > 0)
    t.match(JSON.parse(lines[0] ?? ''), {
      msg: 'an edit failed',
      edit_id: body.id,
      why: `the connection failed: 127.0.0.1:${port}: connect: The connection was refused`,
    })
    t.notMatch(lines.join(''), KEY)
  },
)

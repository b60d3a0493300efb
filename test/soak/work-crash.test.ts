import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { EditStage } from '../../plugins/edits/contract.ts'
import type { ProcessingStage } from '../../plugins/files/contract.ts'
import { WORK_FAILPOINTS } from '../crash/work-failpoints.ts'
import { until } from '../support/daemon.ts'
import { docxParts, paragraph, pdfOf, zipOf } from '../support/documents.ts'
import { edit as patchOf } from '../support/editing.ts'
import type { FakeModel, FakeTurn } from '../support/fake-model.ts'
import { FAKE_MODEL, startFakeModel } from '../support/fake-model.ts'
import { isLate } from '../support/late-document.ts'
import { openLeftBehind, orphans } from '../support/left-behind.ts'
import type { Row } from '../support/mortal-daemon.ts'
import { startPostgres } from '../support/postgres.ts'
import { IS_ALL, KILLED_ON, sized } from '../support/soak.ts'
import type { Stage } from '../support/work-stage.ts'
import { ENDED, setTheStage, workOf } from '../support/work-stage.ts'

t.setTimeout(15 * MINUTE)
// Most of the time leases are waited for.
t.jobs = 2

/** What editors and processors tell of, and the daemon itself; each is killed in. */
const STAGES = {
  reading: 'edit',
  asking: 'edit',
  repairing: 'edit',
  applying: 'edit',
  extract: 'file',
  chunk: 'file',
  embed: 'file',
} as const satisfies Readonly<Record<EditStage | ProcessingStage | 'embed', 'edit' | 'file'>>

/** Milliseconds from a request to a kill that nothing else decides. */
const MOMENTS = sized([40], [40], [10, 40, 160])
/** Every so many failpoints of a kind the daemon is killed in one. */
const STRIDE = sized(18, 6, 1)
/** Those from here on: in half of them a daemon dies in every stage. */
const FIRST = sized(0, 1, 0)

/** The event that tells of an end. */
function eventOf({ kind, status }: Row): string {
  const isWell = status === 'completed' || status === 'processed'
  return `${kind === undefined ? 'file' : 'edit'}.${isWell ? String(status) : 'failed'}`
}

/** Answers all work once the documents that were not read in time have ended. */
async function retryLate(t: Test, stage: Stage, ended: readonly Row[]): Promise<readonly Row[]> {
  const late = ended.filter(isLate)
  if (late.length === 0) return ended
  t.comment(`${late.length} documents took too long, and are retried`)
  for (const { id } of late) {
    await stage.ask('POST', `/v1/apps/${stage.app}/files/${String(id)}/retry`, {})
  }
  const isOver = ({ status }: Row): boolean => ENDED.includes(status)
  await until('they have ended', async () => (await workOf(stage)).every(isOver), 4 * MINUTE)
  return workOf(stage)
}

/** Everything ended, told so once, and left whole revisions alone. */
async function requireWhole(t: Test, stage: Stage): Promise<void> {
  const at = `/v1/apps/${stage.app}`
  const ended = await workOf(stage)
  const told = (await stage.list('/v1/events'))
    .filter(({ type }) => /^(edit|file)\./.test(String(type)))
    .map(({ type, data }) => {
      const { edit_id, file_id } = data as Row
      return `${String(edit_id ?? file_id)} ${String(type)}`
    })
  const expected = ended.map((one) => `${String(one['id'])} ${eventOf(one)}`)
  t.same(told.toSorted(), expected.toSorted(), 'each tells of its end once')
  const done = await retryLate(t, stage, ended)
  for (const { name, prompt, status, error } of done) {
    const isBad = String(name).startsWith('bad')
    const isWanted = !String(prompt).startsWith('Cancel')
    if (isBad) t.match(error, { code: 'damaged' }, String(name))
    else if (isWanted) t.match(status, /completed|processed/, String(prompt ?? name), { error })
  }

  const completed = done.filter(({ status }) => status === 'completed')
  const { current_revision: revision } = await stage.ask('GET', at)
  t.equal(revision, 1 + completed.length, 'a revision for each edit')
  for (let number = 1; number <= Number(revision); number += 1) {
    const tree = await stage.ask('GET', `${at}/tree?revision=${number}`)
    for (const { path } of tree['files'] as { path: string }[]) {
      const content = await stage.ask('GET', `${at}/content?revision=${number}&path=${path}`)
      if (content['path'] !== path) t.fail(`${path} of revision ${number}`, { content })
    }
  }
  const files = done.filter(({ status }) => status === 'processed')
  const found = await stage.ask('POST', `${at}/files/search`, { query: 'pelican', limit: 50 })
  const pelicans = (found['data'] as Row[]).filter(({ text }) => String(text).includes('pelican'))
  t.equal(pelicans.length, files.length, 'a passage of each file')
}

/** Asks for work of every kind, each piece another. */
function createWork(stage: Stage, model: FakeModel) {
  const edits = `/v1/apps/${stage.app}/edits`
  let made = 0
  const page = (): string => {
    made += 1
    return `SUMMARY: Adds page ${made}.\n\nFILE page-${made}.html\n\`\`\`\n<h1>Page ${made}</h1>\n\`\`\`\n`
  }
  const flight = (): string => `A pelican flies ${(made += 1)} miles.`
  return {
    /** @param turns of the model before the one that does as it is told */
    async prompt(turns: readonly FakeTurn[] = [], wish = 'Add a page.'): Promise<Row> {
      const text = page()
      const marker = model.script(...turns.map((turn) => ({ text, ...turn })), { text })
      return stage.ask('POST', edits, { prompt: `${wish} ${marker}` })
    },
    async operations(): Promise<Row> {
      const { current_revision } = await stage.ask('GET', `/v1/apps/${stage.app}`)
      const operations = [{ op: 'write', path: `by-hand-${(made += 1)}.txt`, content: 'By hand' }]
      return stage.ask('POST', edits, { operations, base_revision: current_revision })
    },
    file: () => stage.upload(`pelican-${made}.docx`, zipOf(docxParts(paragraph(flight())))),
    /** Of so many pages that it is read for longer than a beat, and handed out in many pieces. */
    longFile() {
      const more = Array.from({ length: 1600 }, (_, at) => `Page ${at} of the logbook.`)
      return stage.upload(`pelican-${made}.pdf`, pdfOf([flight(), ...more]))
    },
    badFile: () => stage.upload(`bad-${made}.json`, Buffer.from(`{"made": [${(made += 1)}`)),
    async cancel(): Promise<Row> {
      const [running] = await stage.list(`${edits}?status=running`)
      return stage.ask('POST', `${edits}/${String(running?.['id'])}/cancel`, {})
    },
  }
}

type Work = ReturnType<typeof createWork>

/** How often the model was asked for an answer in words, or for vectors. */
function askedFor({ requests }: FakeModel, what: 'chat/completions' | 'embeddings'): number {
  return requests.filter(({ path }) => path === `/v1/${what}`).length
}

const NEVER = new Promise<never>(() => undefined)

/** What brings a daemon to the failpoints of each kind. */
const DOINGS: Readonly<
  Record<
    keyof typeof WORK_FAILPOINTS,
    (work: Work, failpoint: string, model: FakeModel) => Promise<unknown>
  >
> = {
  prompt: (work) => work.prompt(),
  operations: (work) => work.operations(),
  file: (work, failpoint) => (isLong(failpoint) ? work.longFile() : work.file()),
  'bad file': (work) => work.badFile(),
  async cancel(work, _, model) {
    const asked = askedFor(model, 'chat/completions')
    await work.prompt([{ before: NEVER }], 'Cancel this page.')
    await until('the model is asked', () => askedFor(model, 'chat/completions') > asked)
    return work.cancel()
  },
}

const isLong = (failpoint: string): boolean => /^file\.(extract|chunk|embed)\./.test(failpoint)

/** What the model is doing, and how often it must have been asked for that. */
const ASKED: Readonly<Record<string, readonly [turns: readonly FakeTurn[], requests: number]>> = {
  'edit.asking.before_the_answer': [[{ before: NEVER }], 1],
  'edit.asking.within_the_answer': [[{ between: () => NEVER }], 1],
  'edit.repairing.before_the_answer': [
    [{ text: patchOf('missing.html', 'nothing', 'something') }, { before: NEVER }],
    2,
  ],
}

/** Kills the daemon everywhere once; answers where. */
async function killThrough(stage: Stage, model: FakeModel): Promise<readonly string[]> {
  const work = createWork(stage, model)
  const killed: string[] = []
  for (const [kind, failpoints] of Object.entries(WORK_FAILPOINTS)) {
    const doing = DOINGS[kind as keyof typeof WORK_FAILPOINTS]
    for (const { name } of failpoints.filter((_, index) => index % STRIDE === FIRST)) {
      await stage.dieAt(name, () => doing(work, name, model))
      killed.push(name)
    }
  }
  for (const [name, [turns, requests]] of Object.entries(ASKED).slice(0, sized(1, undefined))) {
    const asked = askedFor(model, 'chat/completions') + requests
    const begun = until(name, () => askedFor(model, 'chat/completions') >= asked)
    await stage.killAfter(begun, work.prompt(turns))
    killed.push(name)
  }
  model.queueVectors({ before: NEVER })
  const embedded = askedFor(model, 'embeddings')
  const embedding = until('vectors are asked for', () => askedFor(model, 'embeddings') > embedded)
  await stage.killAfter(embedding, work.file())
  killed.push('file.embed.before_the_answer')
  const half = stage.uploadHalf('half.txt', Buffer.alloc(16_000_000, 'half '))
  await stage.killAfter(half, half)
  for (const moment of MOMENTS) {
    await stage.killAfter(moment, work.prompt())
    await stage.killAfter(moment, work.operations())
    await stage.killAfter(moment, work.file())
  }
  return killed
}

for (const database of KILLED_ON) {
  void t.test(`killed in every stage, edits and files end well on ${database}`, async (t) => {
    const model = await startFakeModel()
    t.teardown(() => model.close())
    const folder = t.testdir()
    const data = join(folder, 'data')
    const place: Record<string, string> = {}
    if (database === 'postgres') {
      const server = await startPostgres()
      t.teardown(() => server.stop())
      place['KEYHOOK_DATABASE_URL'] = await server.createDatabase()
      place['KEYHOOK_MASTER_KEY'] = `k1:${randomBytes(32).toString('base64')}`
    }
    const stage = await setTheStage(t, folder, {
      ...place,
      KEYHOOK_DATA_DIR: data,
      KEYHOOK_LLM_BASE_URL: model.url,
      KEYHOOK_LLM_MODEL: FAKE_MODEL,
      KEYHOOK_EMBEDDINGS_MODEL: FAKE_MODEL,
      KEYHOOK_WORK_LEASE: '2',
      KEYHOOK_RATE_READS: '0',
      KEYHOOK_RATE_WRITES: '0',
    })
    const killed = await killThrough(stage, model)
    const unkilled = Object.entries(STAGES)
      .map(([stage, noun]) => `${noun}.${stage}.`)
      .filter((stage) => !killed.some((name) => name.startsWith(stage)))
    if (IS_ALL) t.same(unkilled, [], 'a daemon died in every stage that the contracts name')
    await requireWhole(t, stage)
    await stage.stop()

    const left = await openLeftBehind(data, place['KEYHOOK_DATABASE_URL'])
    t.same(await orphans(left), [], 'no bytes that nothing names')
    t.same(await left.disagreements(), [], 'a job for everything that is open, and no other')
    await left.close()
  })
}

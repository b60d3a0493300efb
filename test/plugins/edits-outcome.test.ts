import t from 'tap'
import { BASE, createWorld, failureOf, resultOf } from '../../plugins/edits/conformance/world.ts'
import {
  edit,
  NAVY,
  PAGE,
  RED_STYLE,
  startEditing,
  until,
  WRONG,
  written,
} from '../support/editing.ts'
import { FAKE_MODEL } from '../support/fake-model.ts'
import { signal } from '../support/signal.ts'

const { fake, carryOut, asked } = await startEditing(t)

await t.test('repair', async (t) => {
  await t.test('shows how the file really is, and keeps what was right', async (t) => {
    const outcome = await carryOut([{ text: `${PAGE}\n${WRONG}` }, { text: NAVY }])
    t.same(resultOf(outcome), { ...BASE, 'style.css': RED_STYLE, 'about.html': '<h1>About</h1>\n' })
    t.equal(outcome.repaired, true)
    t.equal(outcome.summary, 'Does as told.')
    const repair = asked(1)[0]?.messages.at(-1)?.content ?? ''
    t.match(repair, '  color: navy;')
    t.match(repair, 'for these files alone, as they were before your answer: "style.css"')
    t.notMatch(repair, 'about.html')
  })

  await t.test('asks for the file whole when that does not fit either', async (t) => {
    const whole = written([{ op: 'write', path: 'style.css', content: RED_STYLE }])
    const outcome = await carryOut([{ text: WRONG }, { text: WRONG }, { text: whole }])
    t.equal(resultOf(outcome)['style.css'], RED_STYLE)
    t.match(asked(1)[0]?.messages.at(-1)?.content, 'whole with FILE')
  })

  await t.test('comes to an end, with nothing changed', async (t) => {
    const before = fake.requests.length
    const failure = await failureOf(carryOut([{ text: `${PAGE}\n${WRONG}` }]))
    t.equal(failure.code, 'patch_not_applied')
    t.equal(failure.internal, 'search_not_found')
    t.equal(fake.requests.length - before, 3)
  })

  await t.test('is due to a file that it leaves out', async (t) => {
    const failure = await failureOf(carryOut([{ text: WRONG }, { text: PAGE }]))
    t.equal(failure.code, 'patch_not_applied')
    t.equal(failure.internal, 'not_answered')
  })

  await t.test('tells what the core has against an operation', async (t) => {
    const turns = [{ text: `${PAGE}\nDELETE gone.txt\n` }, { text: NAVY }]
    const outcome = await carryOut(turns)
    t.same(Object.keys(resultOf(outcome)).sort(), [...Object.keys(BASE), 'about.html'].sort())
    t.match(asked(1)[0]?.messages.at(-1)?.content, '"gone.txt": delete: file_not_found')
  })

  await t.test('is for whatever a rename ties to what is wrong', async (t) => {
    const moved = 'RENAME old/notes.txt -> notes.txt\n'
    const wrong = `${moved}${edit('notes.txt', 'four', '4')}`
    const right = `${moved}${edit('notes.txt', 'three', '3')}`
    const outcome = await carryOut([{ text: wrong }, { text: right }])
    t.equal(resultOf(outcome)['notes.txt'], 'one\ntwo\n3\n')
    t.equal(outcome.operations.length, 2)
  })

  await t.test('is due when an answer leaves out what stays', async (t) => {
    const lazy = '<!doctype html>\n<!-- ... rest of the page stays the same ... -->\n'
    const full = `${BASE['index.html']}<p>New.</p>\n`
    const page = (content: string) => written([{ op: 'write', path: 'index.html', content }])
    const outcome = await carryOut([{ text: page(lazy) }, { text: page(full) }])
    t.equal(resultOf(outcome)['index.html'], full)
    t.match(asked(1)[0]?.messages.at(-1)?.content, 'leaves something out')
  })
})

await t.test('usage', async (t) => {
  await t.test('is what the server says, of all requests together', async (t) => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 30 },
    }
    const outcome = await carryOut([
      { text: WRONG, usage },
      { text: NAVY, usage },
    ])
    t.same(outcome.usage, {
      input_tokens: 200,
      output_tokens: 40,
      cached_tokens: 60,
      estimated: false,
    })
    t.equal(outcome.model, FAKE_MODEL)
  })

  await t.test('is reckoned where it says nothing', async (t) => {
    const { usage } = await carryOut([{ text: PAGE, usage: null }])
    t.equal(usage.estimated, true)
    t.equal(usage.output_tokens, Math.ceil(PAGE.length / 4))
    t.ok(usage.input_tokens > 100)
  })

  await t.test('comes with an answer that is not streamed, too', async (t) => {
    const outcome = await carryOut([{ text: PAGE, plain: true }])
    t.equal(outcome.usage.estimated, false)
    t.ok(resultOf(outcome)['about.html'])
  })
})

await t.test('progress is told by file, and again while nothing comes', async (t) => {
  const { tools, reports } = createWorld()
  const { promise: passing, resolve: passed } = signal()
  const outcome = carryOut([{ text: PAGE, before: passing }], { limits: { heartbeat: 5 } }, tools)
  const asking = (): number => reports.filter(({ stage }) => stage === 'asking').length
  await until(() => asking() >= 4)
  passed()
  await outcome
  t.match(reports[0], { stage: 'reading', done: 0, total: 3 })
  t.ok(reports.some(({ stage, message }) => stage === 'asking' && message === 'about.html'))
  t.match(reports.at(-1), { stage: 'applying', done: 1, total: 1 })
})

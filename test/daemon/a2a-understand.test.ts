import t from 'tap'
import type { Message } from '../../daemon/a2a/wire.ts'
import { findNames } from '../../daemon/a2a/find-names.ts'
import type { Before, Circumstances, NamedApp } from '../../daemon/a2a/understand.ts'
import { understand } from '../../daemon/a2a/understand.ts'
import { skillsOf } from '../../daemon/agents/skills.ts'
import { toolsOf } from '../../daemon/agents/tools.ts'
import { FAMILIES } from '../../daemon/families/index.ts'

const skills = skillsOf(toolsOf(FAMILIES))

const SHOP: NamedApp = { id: 'app_1', name: 'The Shop', alias: 'shop' }
const BLOG: NamedApp = { id: 'app_2', name: 'Blog', alias: null }

const circumstances = (changes: Partial<Circumstances> = {}): Circumstances => ({
  skills,
  pins: null,
  lastApp: async () => null,
  apps: async () => [SHOP, BLOG],
  ...changes,
})

const say = (
  text: string,
  metadata?: Readonly<Record<string, unknown>>,
): Pick<Message, 'parts' | 'metadata'> => ({
  parts: [{ text }],
  ...(metadata && { metadata: { ...metadata } }),
})

const EDIT = { skill: 'edits_create' }
const ask = async (
  message: Pick<Message, 'parts' | 'metadata'>,
  changes: Partial<Circumstances> = {},
  before?: Before,
) => {
  const understood = await understand(message, before, circumstances(changes))
  const skill = understood.skill?.id ?? null
  if (understood.kind === 'call') return { kind: 'call', skill, input: understood.input }
  if (understood.kind === 'no_app') return { kind: 'no_app', skill }
  return { kind: 'ask', skill, choices: understood.choices }
}

await t.test('the declared skills are those of the specification', async (t) => {
  t.same(
    skills.map(({ id }) => id),
    [
      'apps_create',
      'edits_create',
      'files_search',
      'deploy_publish',
      'deploy_rollback',
      'observe_health',
    ],
  )
})

await t.test('prose alone chooses no skill: the agent asks', async (t) => {
  const { kind, skill, choices } = await ask(say('Publish the shop'))
  t.same([kind, skill], ['ask', null])
  const offered = (choices as { skills: { id: string; name: string }[] }).skills
  t.same(
    offered.map(({ id }) => id),
    skills.map(({ id }) => id),
  )
})

await t.test('a skill is named by metadata, by data, or is the only one of the key', async (t) => {
  const expected = {
    kind: 'call',
    skill: 'edits_create',
    input: { app_id: 'app_1', prompt: 'Make the shop green' },
  }
  t.same(await ask(say('Make the shop green', EDIT)), expected)
  t.same(await ask(say('Make the shop green', { skill: 'edits.create' })), expected, 'operation id')
  t.same(await ask({ parts: [{ text: 'Make the shop green' }, { data: EDIT }] }), expected)
  const only = skills.filter(({ id }) => id === 'edits_create')
  t.same(await ask(say('Make the shop green'), { skills: only }), expected)
})

await t.test('a skill that the key lacks or that does not exist is refused by name', async (t) => {
  const only = skills.filter(({ id }) => id === 'observe_health')
  for (const skill of ['edits_create', 'nothing', '__proto__']) {
    await t.rejects(ask(say('x', { skill }), { skills: only }), {
      code: 'invalid_request',
      errors: [{ message: 'Allowed: observe_health.' }],
    })
  }
})

await t.test('data is the input, and wins over text', async (t) => {
  const input = { app_id: 'app_9', prompt: 'Make it green', base_revision: 3 }
  const expected = { kind: 'call', skill: 'edits_create', input }
  t.same(await ask({ parts: [{ data: { ...EDIT, input } }] }), expected)
  t.same(await ask({ parts: [{ data: input }], metadata: EDIT }), expected)
  t.same(await ask({ parts: [{ data: { ...EDIT, input } }, { text: 'Make it red' }] }), expected)
})

await t.test('texts are one text; a skill without a field for it ignores it', async (t) => {
  const parts = [{ text: 'Add an imprint' }, { text: 'to the blog' }]
  t.same(await ask({ parts, metadata: EDIT }), {
    kind: 'call',
    skill: 'edits_create',
    input: { app_id: 'app_2', prompt: 'Add an imprint\nto the blog' },
  })
  t.same(await ask(say('How is the blog?', { skill: 'observe_health' })), {
    kind: 'call',
    skill: 'observe_health',
    input: { app_id: 'app_2' },
  })
})

await t.test('the app: by id, pin, context, then name; several are asked for', async (t) => {
  const appOf = async (text: string, changes: Partial<Circumstances> = {}) => {
    const { kind, input, choices } = await ask(say(text, EDIT), changes)
    return kind === 'call' ? input?.['app_id'] : choices
  }
  const both = { apps: [SHOP, BLOG] }
  t.equal(await appOf('Make the shop green', { pins: ['app_7'] }), 'app_7')
  t.equal(await appOf('Make it green', { lastApp: async () => 'app_8' }), 'app_8')
  t.equal(await appOf('Make the shop green', { lastApp: async () => 'app_2' }), 'app_1', 'named')
  t.equal(await appOf('Make THE SHOP green'), 'app_1')
  t.equal(await appOf('Make app_2 green'), 'app_2')
  t.same(await appOf('Make it green'), both)
  t.same(await appOf('Make shop and blog green'), both)
  t.same(await appOf('Make the workshop green'), both, 'a part of a word')
  t.equal(await appOf('Make it green', { apps: async () => [BLOG] }), 'app_2', 'the only one')
  t.same(await ask(say('Make it green', EDIT), { apps: async () => [] }), {
    kind: 'no_app',
    skill: 'edits_create',
  })
  t.equal(
    await appOf('Make the shop green', { pins: ['app_1', 'app_2'] }),
    'app_1',
    'several pins are no choice',
  )
})

await t.test('an app that is built needs none', async (t) => {
  t.same(await ask(say('A shop for bread', { skill: 'apps_create' })), {
    kind: 'call',
    skill: 'apps_create',
    input: { prompt: 'A shop for bread' },
  })
})

await t.test('an answer completes what was said before', async (t) => {
  const whichApp: Before = {
    skill: 'edits.create',
    asked: { input: { base_revision: 3 }, text: 'Make it green' },
  }
  const expected = {
    kind: 'call',
    skill: 'edits_create',
    input: { app_id: 'app_2', prompt: 'Make it green', base_revision: 3 },
  }
  t.same(await ask(say('the blog'), {}, whichApp), expected)
  t.same(await ask({ parts: [{ data: { app_id: 'app_2' } }] }, {}, whichApp), expected)
  const both = await ask(say('neither'), {}, whichApp)
  t.equal(both.kind, 'ask')
  const whichSkill: Before = { skill: '', asked: { input: {}, text: 'Make the shop green' } }
  const chosen = {
    kind: 'call',
    skill: 'edits_create',
    input: { app_id: 'app_1', prompt: 'Make the shop green' },
  }
  for (const answer of ['edits_create', 'change an app']) {
    t.same(await ask(say(answer), {}, whichSkill), chosen, answer)
  }
  t.same(await ask({ parts: [{ data: EDIT }] }, {}, whichSkill), chosen)
})

await t.test('files, addresses and other media types are not understood', async (t) => {
  const parts = [
    { raw: 'aGk=' },
    { url: 'https://example.org/a.png' },
    { text: 'x', mediaType: 'text/html' },
    { data: {}, mediaType: 'text/plain' },
  ]
  for (const part of parts) {
    await t.rejects(ask({ parts: [part], metadata: EDIT }), {
      name: 'ProtocolError',
      message: /^Send text \(text\/plain\) or data/,
    })
  }
  const plain = { text: 'Make the shop green', mediaType: 'Text/Plain; charset=utf-8' }
  t.equal((await ask({ parts: [plain], metadata: EDIT })).kind, 'call')
  for (const data of [null, 3, 'text', []]) {
    await t.rejects(ask({ parts: [{ data }], metadata: EDIT }), { code: 'invalid_request' })
  }
})

await t.test('a name stands in a text as words of its own, in any script', async (t) => {
  for (const [name, text, expected] of [
    ['Café', 'das café am Eck', true],
    ['Café', 'cafés', false],
    ['店', '店', true],
    ['店', '店長', false],
    ['a b', 'x a b, y', true],
    ['', 'anything', false],
    ['𝒳', 'a𝒳', false],
    ['shop', 'shopshop shop', true],
    ["joe's shop", "at Joe's Shop.", true],
    ['s-a', 's-ab s-a', true],
    ['s-a', 's-ab', false],
    ['(a', 'f(a)', false],
    ['(a', 'f (a)', true],
    ['\u{1F35E}', 'the \u{1F35E}!', true],
    ['++', 'c++ a', false],
  ] as const) {
    t.equal(findNames(text)(name), expected, `${name} in ${text}`)
  }
})

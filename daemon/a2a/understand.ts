/**
 * From a message to the call that it asks for. Nothing is inferred from prose but the names of apps: what
 * is not said is asked for.
 *
 * @module
 */
import type { TaskRequest } from '../../plugins/platform/contract/tasks.ts'
import type { SkillSpec } from '../agents/skills.ts'
import { httpError } from '../operations/errors.ts'
import { findNames } from './find-names.ts'
import type { Message, Part } from './wire.ts'
import { ProtocolError } from './protocol-errors.ts'

/** An app that could be meant. */
export interface NamedApp {
  readonly id: string
  readonly name: string
  readonly alias: string | null
}

/** What is known beside the message. */
export interface Circumstances {
  /** The skills of the key, in their order. */
  readonly skills: readonly SkillSpec[]
  /** The apps that the key is pinned to; null: all of the account. */
  readonly pins: readonly string[] | null
  /** The app of the last task of the same context. */
  lastApp(): Promise<string | null>
  /** @param isNeeded whether it is refused to say without them, when the key may not list them */
  apps(isNeeded: boolean): Promise<readonly NamedApp[]>
}

/** What was asked for before, of a task that asks for input. */
export interface Before {
  /** Operation id; empty: the task asks which skill is meant, else which app. */
  readonly skill: string
  readonly asked: TaskRequest
}

export type Understood = { readonly asked: TaskRequest } & (
  | { readonly kind: 'call'; readonly skill: SkillSpec; readonly input: TaskRequest['input'] }
  | {
      readonly kind: 'ask'
      readonly skill: SkillSpec | undefined
      readonly question: string
      readonly choices: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'no_app'; readonly skill: SkillSpec }
)

/**
 * @throws ProtocolError `CONTENT_TYPE_NOT_SUPPORTED` for files and addresses
 * @throws KeyhookError `invalid_request` for a skill that the key does not have
 */
export async function understand(
  message: Pick<Message, 'parts' | 'metadata'>,
  before: Before | undefined,
  circumstances: Circumstances,
): Promise<Understood> {
  const { skills } = circumstances
  const said = readParts(message)
  const skill = chooseSkill(said, before, skills)
  const input = { ...before?.asked.input, ...said.input }
  if (skill === undefined) {
    const asked = { input, text: join(before?.asked.text, said.text) }
    return { kind: 'ask', skill, asked, ...askSkill(skills) }
  }
  // An answer to a question names a skill or an app, and is no part of what is wanted.
  const text = before === undefined ? said.text : before.asked.text || said.text
  const asked = { input, text }
  const filled = fill(skill, input, text)
  if (!needsApp(skill)) return { kind: 'call', skill, asked, input: filled }
  const app = await chooseApp(filled, said.text, text, circumstances)
  if (typeof app === 'string') {
    return { kind: 'call', skill, asked, input: { ...filled, app_id: app } }
  }
  if (app.length === 0) return { kind: 'no_app', skill, asked }
  return { kind: 'ask', skill, asked, ...askApp(app) }
}

interface Said {
  readonly skill: string | undefined
  readonly input: TaskRequest['input']
  readonly text: string
}

function readParts({ parts, metadata = {} }: Pick<Message, 'parts' | 'metadata'>): Said {
  let skill = typeof metadata['skill'] === 'string' ? metadata['skill'] : undefined
  let input: TaskRequest['input'] = {}
  const texts: string[] = []
  for (const part of parts) {
    requireType(part)
    if (part.text !== undefined) texts.push(part.text)
    else {
      const { skill: named, input: inner, ...own } = objectOf(part.data)
      if (typeof named === 'string') skill ??= named
      input = { ...input, ...(inner === undefined ? own : objectOf(inner)) }
    }
  }
  return { skill, input, text: texts.join('\n').trim() }
}

const TYPES = { text: 'text/plain', data: 'application/json' } as const

function requireType({ text, data, mediaType = '' }: Part): void {
  const expected = text === undefined ? (data === undefined ? undefined : TYPES.data) : TYPES.text
  const [given = ''] = mediaType.split(';', 1)
  if (expected !== undefined && (given === '' || given.trim().toLowerCase() === expected)) return
  throw new ProtocolError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    'Send text (text/plain) or data (application/json); files are uploaded over REST or MCP.',
  )
}

function objectOf(data: unknown): Readonly<Record<string, unknown>> {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) {
    return data as Readonly<Record<string, unknown>>
  }
  throw httpError('invalid_request', {
    errors: [
      {
        location: 'message.parts',
        code: 'invalid_type',
        message: 'Send an object of the arguments, or { skill, input }.',
      },
    ],
  })
}

/** Undefined: several could be meant. */
function chooseSkill(
  { skill, text }: Said,
  before: Before | undefined,
  skills: readonly SkillSpec[],
): SkillSpec | undefined {
  if (skill !== undefined) return requireSkill(skill, skills)
  if (before !== undefined && before.skill !== '') {
    return requireSkill(before.skill, skills)
  }
  const named = before && skills.find((one) => isCalled(one, text))
  const [only, other] = skills
  return named ?? (other === undefined ? only : undefined)
}

const isCalled = ({ id, skill: { name } }: SkillSpec, text: string): boolean =>
  [id, name].some((one) => one.toLowerCase() === text.toLowerCase())

function requireSkill(named: string, skills: readonly SkillSpec[]): SkillSpec {
  const found = skills.find(({ id, tool }) => id === named || tool.operation.id === named)
  if (found !== undefined) return found
  const message = `Allowed: ${skills.map(({ id }) => id).join(', ')}.`
  throw httpError('invalid_request', {
    errors: [{ location: 'message.metadata.skill', code: 'invalid_value', message }],
  })
}

function askSkill(skills: readonly SkillSpec[]) {
  return {
    question: 'Which skill do you mean? Answer with its id.',
    choices: {
      skills: skills.map(({ id, skill, tool }) => ({
        id,
        name: skill.name,
        description: tool.listed.description,
      })),
    },
  }
}

/** Apps that a question names; any other may be answered too. */
const MOST_CHOICES = 100

function askApp(apps: readonly NamedApp[]) {
  return {
    question: 'Which app do you mean? Answer with its id.',
    choices: {
      apps: apps.slice(0, MOST_CHOICES).map(({ id, name, alias }) => ({ id, name, alias })),
    },
  }
}

const needsApp = ({ tool }: SkillSpec): boolean =>
  tool.args.some(({ name, place }) => name === 'app_id' && place === 'path')

function fill(
  { skill: { text: field } }: SkillSpec,
  input: TaskRequest['input'],
  text: string,
): TaskRequest['input'] {
  return field === undefined || text === '' || input[field] !== undefined
    ? input
    : { ...input, [field]: text }
}

/** Characters of a message in which a name of an app is looked for: each of many apps is, in all of them. */
const SEARCHED = 2000

/** The one that is meant, or those that could be. */
async function chooseApp(
  input: TaskRequest['input'],
  answer: string,
  text: string,
  { pins, lastApp, apps }: Circumstances,
): Promise<string | readonly NamedApp[]> {
  const { app_id } = input
  if (typeof app_id === 'string') return app_id
  const [pinned, otherPin] = pins ?? []
  if (pinned !== undefined && otherPin === undefined) return pinned
  const last = await lastApp()
  const all = await apps(last === null)
  const named = [...new Set([answer, text])]
    .map((one) => namedIn(one.slice(0, SEARCHED), all))
    .find(({ length }) => length > 0)
  if (named === undefined && last !== null) return last
  const [only, other] = named ?? all
  return only !== undefined && other === undefined ? only.id : (named ?? all)
}

function namedIn(text: string, apps: readonly NamedApp[]): readonly NamedApp[] {
  const find = findNames(text)
  return apps.filter(({ id, name, alias }) =>
    [id, name, alias].some((one) => one !== null && find(one)),
  )
}

function join(before = '', now = ''): string {
  return [before, now].filter((one) => one !== '').join('\n')
}

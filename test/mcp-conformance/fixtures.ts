import { z } from 'zod'
import { kernelError } from '../../lib/errors.ts'
import type { AgentTool } from '../../daemon/operations/agent.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { defineFamily } from '../../daemon/operations/family.ts'
import { operation } from '../../daemon/operations/operation.ts'
import type { StreamEvent } from '../../daemon/operations/operation.ts'
import { wait } from '../../daemon/families/wire.ts'
import { httpError } from '../../daemon/operations/errors.ts'

/** The toolset of the tools that the suite calls by name. */
export const TOOLSET = 'test'

const agent: AgentTool = { toolset: TOOLSET }
const text = z.strictObject({ text: z.string() })
const workParams = z.strictObject({ work_id: z.string() })

/** An operation that answers `said`; its tool is named `test_` and its name. */
function saying(name: string, said: string) {
  return operation({
    effect: 'read',
    id: `test.${name}`,
    summary: 'Say something',
    method: 'GET',
    path: `/v1/test/${name}`,
    access: 'key',
    agent,
    emits: [],
    input: {},
    output: text,
    errors: [],
    example: { response: { text: said } },
    run: () => Promise.resolve({ text: said }),
  })
}

const failing = operation({
  effect: 'read',
  id: 'test.error_handling',
  summary: 'Refuse',
  method: 'GET',
  path: '/v1/test/error_handling',
  access: 'key',
  agent,
  emits: [],
  input: {},
  output: text,
  errors: ['key_required'],
  example: { response: { text: 'never' } },
  run: () => Promise.reject(httpError('key_required')),
})

const work = z.strictObject({ id: z.string(), status: z.string() })
const STATES = ['queued', 'running', 'completed']

/** Work that is accepted, whose record is read again, and whose events are followed to its end. */
const WORK = [
  operation({
    effect: 'own',
    id: 'test.tool_with_progress',
    summary: 'Begin work',
    method: 'POST',
    path: '/v1/test/jobs',
    access: 'key',
    agent,
    emits: [],
    input: { query: z.strictObject({ wait }) },
    output: work,
    status: 201,
    accepted: ({ status }) => status !== 'completed',
    watch: ({ id }) => `/v1/test/jobs/${id}`,
    errors: [],
    example: {
      response: { id: 'one', status: 'completed' },
      accepted: { id: 'one', status: 'queued' },
    },
    run: () => Promise.resolve({ id: 'one', status: 'queued' }),
  }),
  operation({
    effect: 'read',
    id: 'test.get_work',
    summary: 'Read work',
    method: 'GET',
    path: '/v1/test/jobs/{work_id}',
    access: 'key',
    agent,
    emits: [],
    input: { params: workParams },
    output: work,
    errors: [],
    example: { params: { work_id: 'one' }, response: { id: 'one', status: 'completed' } },
    run: ({ params }) => Promise.resolve({ id: params.work_id, status: 'completed' }),
  }),
  operation({
    effect: 'stream',
    id: 'test.follow_work',
    summary: 'Follow work',
    method: 'GET',
    path: '/v1/test/jobs/{work_id}/events',
    access: 'key',
    agent: { omit: 'Its tool follows it.' },
    emits: [],
    input: { params: workParams },
    output: work,
    errors: [],
    example: { params: { work_id: 'one' }, response: { id: 'one', status: 'running' } },
    run: ({ params }) => Promise.resolve(statesOf(params.work_id)),
  }),
] as const

async function* statesOf(id: string): AsyncGenerator<StreamEvent<z.infer<typeof work>>> {
  await Promise.resolve()
  for (const [at, status] of STATES.entries()) {
    const event = status === 'completed' ? 'end' : 'state'
    yield { id: String(at), event, data: { id, status } }
  }
}

/**
 * Operations as a third party adds them, for the tools that the suite calls by name: they become tools as
 * those of the product do, with nothing else declared.
 *
 * @param narrow takes a scope from the calling key, so that its tools change
 */
export function fixtureFamily(narrow: () => Promise<void>): Family {
  const changing = operation({
    effect: 'own',
    id: 'test.trigger_tool_change',
    summary: 'Change the tools of the calling key',
    method: 'POST',
    path: '/v1/test/trigger_tool_change',
    access: 'key',
    agent,
    emits: [],
    input: {},
    output: text,
    errors: [],
    example: { response: { text: 'changed' } },
    async run() {
      await narrow()
      return { text: 'changed' }
    },
  })
  return defineFamily({
    name: 'test',
    scopes: {},
    events: [],
    errors: kernelError,
    operations: [
      saying('simple_text', 'This is a simple text response for testing.'),
      saying('logging_tool', 'No tool sends messages of a log.'),
      saying('streaming_elicitation', 'No tool asks its caller for anything.'),
      failing,
      changing,
      ...WORK,
    ],
  })
}

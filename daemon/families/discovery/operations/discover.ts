import { z } from 'zod'
import { scopesOf } from '../../../../lib/scope/syntax.ts'
import { MAX_EVENT_BYTES } from '../../../../lib/webhook/event.ts'
import { mayCall } from '../../../authority/admission.ts'
import type { Principal } from '../../../authority/principal.ts'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import { exampleHead, headFields, headOf } from '../head.ts'

const answer = z
  .strictObject({
    ...headFields,
    families: z.array(
      z.strictObject({
        name: z.string(),
        operations: z.array(
          z.strictObject({
            id: z.string(),
            method: z.string(),
            path: z.string(),
            scope: z
              .string()
              .nullable()
              .meta({ description: 'Required scope; null where none is.' }),
            tool: z
              .string()
              .nullable()
              .meta({ description: 'Its tool; null where agents are offered none.' }),
          }),
        ),
      }),
    ),
    tools: z
      .array(
        z.strictObject({
          name: z.string(),
          operation: z.string(),
          toolset: z.string(),
          default: z
            .boolean()
            .meta({ description: 'Whether a client that chooses no toolsets gets it.' }),
          skill: z.string().nullable().meta({ description: 'Its skill; null without one.' }),
          allowed: z.boolean().meta({ description: 'Whether you may call it.' }),
        }),
      )
      .meta({ description: 'Tools of agents, each an operation.' }),
    toolsets: z.array(z.string()).meta({ description: 'Toolsets that a client may choose.' }),
    scopes: z.array(z.string()).meta({ description: 'All scopes of this service.' }),
    your_scopes: z.array(z.string()).meta({ description: 'Your effective scopes.' }),
    your_apps: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Your pins; null for every app.' }),
    event_types: z
      .array(z.string())
      .meta({ description: 'Event types of the service; declared ones are in /v1/event-types.' }),
    models: z.array(z.string()).meta({ description: 'Language models that a prompt may name.' }),
    limits: z.strictObject({ event_bytes: z.int(), events_per_request: z.int(), page: z.int() }),
    skills: z.array(z.string()).meta({ description: 'Tools that are also skills of the agent.' }),
  })
  .meta({ id: 'Discovery' })

export const discover = operation({
  effect: 'read',
  id: 'discovery.show',
  summary: 'Show the features of this service and your access to them',
  method: 'GET',
  path: '/v1/discovery',
  access: { scope: 'discovery:read', pinned: 'allowed' },
  agent: { toolset: 'discovery', default: true, resource: true },
  emits: ['discovery'],
  input: {},
  output: answer,
  errors: [],
  example: {
    response: {
      ...exampleHead,
      families: [
        {
          name: 'keys',
          operations: [
            {
              id: 'keys.list',
              method: 'GET',
              path: '/v1/keys',
              scope: 'keys:read',
              tool: 'keys_list',
            },
          ],
        },
      ],
      tools: [
        {
          name: 'keys_list',
          operation: 'keys.list',
          toolset: 'keys',
          default: false,
          skill: null,
          allowed: true,
        },
      ],
      toolsets: ['keys'],
      scopes: ['keys:read', 'keys:write'],
      your_scopes: ['*:read'],
      your_apps: null,
      event_types: ['app.deployed'],
      models: ['qwen3'],
      limits: { event_bytes: MAX_EVENT_BYTES, events_per_request: 500, page: 100 },
      skills: [],
    },
  },
  command: 'discovery show',
  async run({ platform, principal }) {
    const { scopes, pins } = principal.authority
    const { families, skills } = platform.catalogue
    const tools = toolsFor(platform, principal)
    return {
      ...headOf(platform),
      families: families.map(({ name, operations }) => ({
        name,
        operations: operations.map(({ id, method, path, scope, tool }) => ({
          id,
          method,
          path,
          scope,
          tool: tool?.name ?? null,
        })),
      })),
      tools,
      toolsets: [...new Set(tools.map(({ toolset }) => toolset))],
      scopes: scopesOf(platform.universe, 'one action each').toSorted(),
      your_scopes: [...scopes],
      your_apps: pins === 'all' ? null : [...pins].sort(),
      event_types: [...platform.eventTypes.builtIn.keys()].sort(),
      models: platform.plugins.editor.available ? [...platform.models] : [],
      limits: { event_bytes: MAX_EVENT_BYTES, events_per_request: 500, page: 100 },
      skills: skills.map(({ id }) => id),
    }
  },
})

function toolsFor(
  { catalogue: { families }, universe }: Platform,
  principal: Principal,
): z.input<typeof answer>['tools'] {
  return families
    .flatMap((family) => family.operations)
    .flatMap(({ id, access, tool }) =>
      tool === null
        ? []
        : [{ ...tool, operation: id, allowed: mayCall(principal, access, universe) }],
    )
}

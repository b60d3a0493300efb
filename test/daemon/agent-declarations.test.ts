import t from 'tap'
import { z } from 'zod'
import { createSelector } from '../../daemon/agents/selection.ts'
import { skillsOf } from '../../daemon/agents/skills.ts'
import { MAX_DEFAULT_TOOLS, toolsOf } from '../../daemon/agents/tools.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { TOOLSETS, isTool } from '../../daemon/operations/agent.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { defineFamily } from '../../daemon/operations/family.ts'
import { operation } from '../../daemon/operations/operation.ts'

const countCups = operation({
  effect: 'read',
  id: 'cups.count',
  summary: 'Count the cups',
  method: 'GET',
  path: '/v1/cups',
  access: { scope: 'cups:read', pinned: 'allowed' },
  agent: { toolset: 'cups', default: true },
  emits: ['cups'],
  input: {},
  output: z.strictObject({ count: z.int() }),
  errors: [],
  example: { response: { count: 1 } },
  run: () => Promise.resolve({ count: 1 }),
})

function cupsOf(ids: readonly string[]): readonly Family[] {
  return [
    defineFamily({
      name: 'cups',
      scopes: { cups: ['read'] },
      events: [],
      errors: { rows: {} },
      operations: ids.map((id) => ({ ...countCups, id })),
    }),
  ]
}

const operations = FAMILIES.flatMap((family) => family.operations)
const tools = toolsOf(FAMILIES)
const standard = tools.filter(({ use }) => use.default === true)

await t.test('every operation is a tool, or says why it is none', async (t) => {
  for (const { id, agent } of operations) {
    if (isTool(agent)) {
      t.ok((TOOLSETS as readonly string[]).includes(agent.toolset), `${id}: ${agent.toolset}`)
    } else {
      t.ok(agent.omit.split(' ').length >= 4, `${id}: ${agent.omit}`)
    }
  }
  const names = tools.map(({ name }) => name)
  t.same(
    names.filter((name) => !/^[a-z0-9_]{1,64}$/.test(name)),
    [],
  )
  t.equal(new Set(names).size, names.length)
})

await t.test('an operation that declares neither does not compile', (t) => {
  const { agent: _, ...undeclared } = countCups
  // @ts-expect-error: `agent` is missing
  t.throws(() => operation(undeclared), { message: /operation\.agent must be/ })
  t.end()
})

await t.test('an operation that no key can call is not offered', async (t) => {
  const keyless = new Set<unknown>(['owner', 'operator', 'user'])
  for (const { id, agent, access, effect } of operations) {
    if (keyless.has(access)) t.notOk(isTool(agent), id)
    if (effect === 'stream' || effect === 'bytes') t.notOk(isTool(agent), `${id}: its result`)
  }
})

await t.test(
  'a client that chooses none gets few tools, and none of secrets or money',
  async (t) => {
    t.ok(standard.length < MAX_DEFAULT_TOOLS, 'one is left for reading on')
    t.equal(standard.length, 24)
    for (const { name, operation, use } of standard) {
      t.notOk(['keys', 'webhooks', 'billing'].includes(use.toolset), name)
      t.equal(operation.secret, undefined, name)
    }
    t.throws(() => toolsOf(cupsOf(Array.from({ length: 26 }, (_, at) => `cups.count_${at}`))), {
      message: '26 default tools are too many',
    })
  },
)

await t.test('schemas are objects that model APIs take', async (t) => {
  for (const { name, listed, args } of tools) {
    for (const schema of [listed.inputSchema, listed.outputSchema]) {
      t.equal(schema.type, 'object', name)
      t.same(
        ['oneOf', 'anyOf', 'allOf', '$ref', '$defs'].filter((key) => key in schema),
        [],
        name,
      )
      t.notMatch(JSON.stringify(schema), /"\$ref"|"override"|"\$schema"/, name)
    }
    const own = args.map((one) => one.name)
    t.same(Object.keys(listed.inputSchema.properties), own, name)
  }
})

await t.test('examples of operations match the schemas of their tools', async (t) => {
  for (const { name, operation, listed } of tools) {
    const { response, accepted = response } = operation.example
    const { params = {}, query = {}, body } = operation.example
    const known = new Set(Object.keys(listed.outputSchema.properties))
    for (const answer of [response, accepted, operation.quote?.example ?? response]) {
      const members = Object.keys(answer as object)
      t.same(
        members.filter((member) => !known.has(member)),
        [],
        `${name}: members of its result`,
      )
      t.same(
        (listed.outputSchema.required ?? []).filter((member) => !members.includes(member)),
        [],
        `${name}: required members of its result`,
      )
    }
    const whole = listed.inputSchema.properties['body'] !== undefined
    const given = { ...params, ...query, ...(whole ? { body } : (body as object | undefined)) }
    t.same(
      Object.keys(given).filter((one) => listed.inputSchema.properties[one] === undefined),
      [],
      `${name}: arguments`,
    )
  }
})

await t.test('skills name a field of text and reads that exist', async (t) => {
  const skills = skillsOf(tools)
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
  const reads = new Map(operations.map((one) => [one.id, one]))
  for (const { id, skill, tool } of skills) {
    t.ok(skill.examples.length > 0 && skill.tags.length > 0, id)
    if (skill.text !== undefined) {
      t.match(tool.listed.inputSchema.properties[skill.text], { type: 'string' }, id)
    }
    for (const artifact of skill.artifacts ?? []) {
      const read = reads.get(artifact.operation)
      t.match(read, { effect: 'read', method: 'GET' }, `${id}: ${artifact.name}`)
      const { response } = tool.operation.example
      const asked = artifact.ask(response as Readonly<Record<string, unknown>>)
      t.same(
        Object.keys(asked ?? {}).toSorted(),
        Object.keys(read?.example.params ?? {}).toSorted(),
        `${id}: ${artifact.name} is read with its parameters`,
      )
    }
  }
})

/** R: reads, D: destructive, I: idempotent, W: reaches beyond the service. A person judged each. */
const HINTS: Readonly<Record<string, string>> = {
  apps_list: 'RI',
  apps_create: 'W',
  apps_get: 'RI',
  apps_update: 'DI',
  apps_archive: 'DI',
  apps_restore: '',
  apps_clone: '',
  apps_revisions: 'RI',
  apps_tree: 'RI',
  apps_content: 'RI',
  apps_hosting_usage: 'RI',
  apps_templates: 'RI',
  edits_list: 'RI',
  edits_create: 'W',
  edits_get: 'RI',
  edits_status: 'RI',
  edits_logs: 'RI',
  edits_cancel: 'D',
  edits_restore_revision: 'D',
  edits_revert: 'D',
  edits_compare: 'RI',
  edits_diff: 'RI',
  files_list: 'RI',
  files_upload: 'W',
  files_search: 'RI',
  files_get: 'RI',
  files_delete: 'DI',
  files_retry: '',
  deploy_publish: 'W',
  deploy_unpublish: 'D',
  deploy_rollback: 'D',
  deploy_status: 'RI',
  deploy_list: 'RI',
  deploy_get: 'RI',
  deploy_logs: 'RI',
  deploy_cancel: 'D',
  observe_logs: 'RI',
  observe_errors: 'RI',
  observe_get_error: 'RI',
  observe_resolve_error: '',
  observe_health: 'RI',
  settings_list_domains: 'RI',
  settings_create_domain: '',
  settings_get_domain: 'RI',
  settings_update_domain: 'DI',
  settings_delete_domain: 'DI',
  settings_verify_domain: 'W',
  settings_list_services: 'RI',
  settings_put_service: 'DI',
  settings_get_service: 'RI',
  settings_delete_service: 'DI',
  settings_get_auth: 'RI',
  settings_update_auth: 'DI',
  keys_list: 'RI',
  keys_create: '',
  keys_self: 'RI',
  keys_get: 'RI',
  keys_update: 'DI',
  keys_rotate: 'D',
  keys_end_previous: 'DI',
  keys_revoke: 'DI',
  webhooks_list: 'RI',
  webhooks_create: '',
  webhooks_get: 'RI',
  webhooks_update: 'DI',
  webhooks_delete: 'DI',
  webhooks_test: 'W',
  webhooks_rotate_secret: 'D',
  webhooks_retry_failed: 'W',
  webhooks_replay: 'W',
  webhooks_list_deliveries: 'RI',
  webhooks_get_delivery: 'RI',
  webhooks_retry_delivery: 'W',
  events_publish: '',
  events_list: 'RI',
  events_get: 'RI',
  events_explain: 'RI',
  events_declare_type: 'DI',
  events_list_types: 'RI',
  billing_wallet: 'RI',
  billing_ledger: 'RI',
  billing_limits: 'RI',
  billing_usage: 'RI',
  billing_pricing: 'RI',
  billing_invoices: 'RI',
  billing_invoice: 'RI',
  discovery_show: 'RI',
  discovery_services: 'RI',
  discovery_agent_card: 'RI',
}

await t.test('hints are those that a person wrote down', async (t) => {
  const shown = tools.map(({ name, listed: { annotations } }) => {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
    const letters = [
      readOnlyHint && 'R',
      destructiveHint && 'D',
      idempotentHint && 'I',
      openWorldHint && 'W',
    ]
    return [name, letters.filter((one) => one !== false).join('')] as const
  })
  t.same(Object.fromEntries(shown), HINTS)
})

await t.test('a selection has the tools of its address, and refuses unknown names', async (t) => {
  const select = createSelector(tools)
  const names = (query: Readonly<Record<string, string>>): readonly string[] => [
    ...select(query).tools.keys(),
  ]
  t.same(
    names({}),
    standard.map(({ name }) => name),
  )
  t.same(names({ toolsets: 'all' }).length, tools.length)
  t.same(names({ toolsets: 'keys', read_only: 'true' }), ['keys_list', 'keys_self', 'keys_get'])
  t.same(names({ toolsets: 'api' }), [])
  t.equal(select({ toolsets: 'api,edits' }).api, true)
  const one = select({ toolsets: 'edits,keys,discovery', app: 'shop1' })
  t.same(one.fixed, { app_id: 'shop1' })
  t.notOk(one.tools.has('keys_list'), 'is of no app')
  t.ok(one.tools.has('discovery_show'))
  const change = one.tools.get('edits_create')
  t.same(change?.listed.inputSchema.properties['app_id'], undefined)
  t.notOk(change?.listed.inputSchema.required?.includes('app_id'))
  t.ok(change?.args.some(({ name }) => name === 'prompt'))
  t.notOk(change?.args.some(({ name }) => name === 'app_id'))
  for (const [query, location] of [
    [{ toolsets: 'pots' }, 'query.toolsets'],
    [{ toolsets: '' }, 'query.toolsets'],
    [{ read_only: 'yes' }, 'query.read_only'],
    [{ app: '../keys' }, 'query.app'],
    [{ apps: 'shop1' }, 'query.apps'],
  ] as const) {
    t.throws(() => select(query), { code: 'invalid_request', errors: [{ location }] }, location)
  }
})

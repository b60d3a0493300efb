import { z } from 'zod'
import { defineErrors } from '../../../lib/errors.ts'
import type { Declared } from './mutate.ts'

const principal = { type: 'operator', account_id: 'acct_1' }
const platform = { queues: {}, newId: () => 'id' }
const note = z.strictObject({ id: z.string() })

const boil = {
  effect: 'write',
  id: 'pots.boil',
  summary: 'Boil a pot',
  method: 'POST',
  path: '/v1/pots',
  access: { scope: 'pots:write', pinned: 'refused', self: 'pot_id', service: true },
  agent: {
    toolset: 'pots',
    default: true,
    destructive: true,
    openWorld: true,
    resource: true,
    follow: () => undefined,
    skill: {},
  },
  emits: [{ family: 'pots', because: 'It is theirs.', requires: 'pots:read' }],
  input: { params: note, query: note, body: note, form: {}, parts: {} },
  output: note,
  status: 201,
  accepted: () => true,
  watch: () => '/v1/pots',
  errors: ['invalid_json'],
  example: { response: { id: '1' }, params: { id: '1' }, query: { id: '1' } },
  cache: { seconds: 1 },
  idempotency: 'required',
  secret: ['id'],
  command: 'pot boil',
  stepUp: true,
  bodyLimit: 1,
  unmetered: true,
  run: () => Promise.resolve({ id: '1' }),
}

const OPTIONAL = [
  'access.self',
  'access.service',
  'agent.default',
  'agent.destructive',
  'agent.openWorld',
  'agent.resource',
  'agent.follow',
  'agent.skill',
  'emits.0.requires',
  'input.params',
  'input.query',
  'input.body',
  'input.form',
  'input.parts',
  'status',
  'accepted',
  'watch',
  'example.params',
  'example.query',
  'cache',
  'idempotency',
  'secret',
  'command',
  'stepUp',
  'bodyLimit',
  'unmetered',
]

const { run } = boil
const type = {
  type: 'pot.boiled',
  scope: 'pots:read',
  description: 'It boils.',
  schema: note,
  sample: {},
}

/** A right call of each function of `keyhook/families`. */
export const FAMILIES: Readonly<Record<string, Declared>> = {
  './families#operation': {
    args: [boil],
    optional: OPTIONAL.map((path) => `0.${path}`),
    also: {
      '0.access': ['string'],
      '0.agent.resource': ['function'],
      '0.emits.0': ['string'],
      '0.errors.0': ['string'],
      '0.example.response': ['any'],
    },
    opaque: ['0.input.params', '0.input.query', '0.input.body', '0.output', '0.example.response'],
    records: ['0.agent.skill', '0.input.form', '0.input.parts', '0.cache'],
    maps: ['0.example.params', '0.example.query'],
    empty: ['0.emits', '0.errors'],
  },
  './families#defineFamily': {
    args: [
      {
        name: 'pots',
        needs: [{ name: 'kitchens' }],
        scopes: { pots: ['read'] },
        events: [type],
        errors: defineErrors({}),
        operations: [{ id: 'pots.boil', method: 'POST', path: '/v1/pots', run }],
        jobs: [{ createHandler: () => undefined }],
        records: { family: 'pots', tables: ['pots'], migrations: [] },
        extendsApps: {},
      },
    ],
    optional: ['0.needs', '0.events.0.schema', '0.jobs', '0.records', '0.extendsApps'],
    maps: ['0.scopes'],
    records: [
      '0.needs.0',
      '0.events.0',
      '0.events.0.sample',
      '0.operations.0',
      '0.jobs.0',
      '0.records',
      '0.extendsApps',
    ],
    opaque: ['0.errors', '0.events.0.schema', '0.records.migrations'],
    empty: ['0.needs', '0.events', '0.operations', '0.jobs'],
  },
  './families#defineEvents': {
    args: [[type]],
    optional: ['0.0.schema'],
    opaque: ['0.0.schema'],
    records: ['0.0', '0.0.sample'],
    empty: ['0'],
  },
  './families#defineRecords': {
    args: [
      {
        family: 'pots',
        tables: ['pots'],
        migrations: [{ name: '0001-pots', up: () => [] }],
      },
    ],
    records: ['0.migrations.0'],
    empty: ['0.migrations'],
    also: { '0.family': ['string'], '0.tables.0': ['string'] },
  },
  './families#defineJob': {
    args: [{ kind: 'pots.boil', run, ended: () => Promise.resolve() }],
    optional: ['0.ended'],
  },
  './families#accountOf': { args: [principal], records: ['0'], also: { '0.type': ['string'] } },
  './families#pageOf': { args: [note], opaque: ['0'] },
  './families#audit': {
    args: [
      { tx: {}, platform, principal },
      {
        account_id: 'acct_1',
        action: 'pot.boiled',
        target_type: 'pot',
        target_id: '1',
        app_id: null,
        origins: null,
      },
    ],
    records: ['0', '0.tx', '0.platform', '0.platform.queues', '0.principal'],
    optional: ['1.app_id', '1.origins'],
    also: {
      '0.principal.account_id': ['null'],
      '1.app_id': ['string'],
      '1.origins': ['object'],
    },
  },
  './families#listPage': {
    args: [
      { platform, principal, query: {}, abandoned: () => AbortSignal.abort() },
      { list: {}, read: () => undefined, cursorOf: () => '1', show: () => undefined },
    ],
    records: ['0', '0.platform', '0.platform.queues', '0.principal', '0.query', '1.list'],
    also: { '0.principal.account_id': ['null'] },
  },
}

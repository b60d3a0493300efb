import assert from 'node:assert/strict'
import type { Clause } from './clause.ts'
import { listed, refusedFor } from './clause.ts'

const CLAUSES: readonly Clause[] = [
  {
    id: 'CORE-ERR-001',
    section: '3.3.2',
    level: 'MUST',
    text: 'Errors have a code, a message and typed details.',
    async check({ client }) {
      const { error, text } = await client.ask('GetTask', { id: 'nothing' })
      assert.ok(error !== undefined && error.message !== '', text)
      assert.match(String(error.details[0]?.['@type']), /google\.rpc\.ErrorInfo$/)
    },
  },
  {
    id: 'CORE-ERR-002',
    section: '3.3.2',
    level: 'MUST',
    text: 'Parameters are checked before anything is done.',
    async check(stage) {
      const before = (await listed(stage)).totalSize
      for (const parts of [[], [{}], [{ text: 1 }], [{ text: 'a', url: 'b' }]]) {
        refusedFor(await stage.refused(stage.message(parts)), 'INVALID_REQUEST')
      }
      for (const request of [{ pageSize: 0 }, { pageSize: 101 }, { pageToken: 'made up' }]) {
        refusedFor(await stage.client.ask('ListTasks', request), 'INVALID_REQUEST')
      }
      assert.equal((await listed(stage)).totalSize, before)
    },
  },
  {
    id: 'VER-SERVER-001',
    section: '3.6.2',
    level: 'MUST',
    text: 'Version 1.0 is served, whatever its patch.',
    async check({ client }) {
      for (const version of ['1.0', '1.0.1']) {
        const { result, text } = await client.ask('ListTasks', {}, { 'a2a-version': version })
        assert.ok(result, text)
      }
    },
  },
  {
    id: 'VER-SERVER-002',
    section: '3.6.2',
    level: 'MUST',
    text: 'Another version is a VersionNotSupportedError.',
    async check({ client }) {
      for (const version of ['0.3', '1.1', '99.0', 'x']) {
        const reply = await client.ask('ListTasks', {}, { 'a2a-version': version })
        refusedFor(reply, 'VERSION_NOT_SUPPORTED')
      }
    },
  },
  {
    id: 'VER-SERVER-003',
    section: '3.6.2',
    level: 'MUST',
    text: 'No version is 0.3.',
    async check({ client }) {
      refusedFor(await client.ask('ListTasks', {}, {}), 'VERSION_NOT_SUPPORTED')
    },
  },
  {
    id: 'HTTP_JSON-SVC-001',
    section: '11.1',
    level: 'SHOULD',
    text: 'Responses are application/a2a+json.',
    only: 'HTTP+JSON',
    async check({ client }) {
      const { headers } = await client.ask('ListTasks')
      assert.equal(headers.get('content-type'), 'application/a2a+json')
    },
  },
  {
    id: 'HTTP_JSON-ERR-001',
    section: '11.6',
    level: 'MUST',
    text: 'Errors have the form of AIP-193: code, status, message and details.',
    only: 'HTTP+JSON',
    async check({ client }) {
      const { status, text } = await client.ask('GetTask', { id: 'nothing' })
      const { error } = JSON.parse(text) as { error: Readonly<Record<string, unknown>> }
      assert.deepEqual([status, error['code'], error['status']], [404, 404, 'NOT_FOUND'])
      assert.equal(typeof error['message'], 'string')
      assert.ok(Array.isArray(error['details']))
    },
  },
  {
    id: 'JSONRPC-ERR-001',
    section: '9.5',
    level: 'MUST',
    text: 'Errors have the codes of the protocol.',
    only: 'JSONRPC',
    async check(stage) {
      const { client } = stage
      const { id } = await stage.read()
      const codes = [
        (await client.ask('GetTask', { id: 'nothing' })).error?.code,
        (await client.ask('CancelTask', { id })).error?.code,
        (await client.ask('ListTasks', { pageSize: 0 })).error?.code,
        (await client.ask('Nothing')).error?.code,
        (await client.ask('ListTasks', {}, {})).error?.code,
      ]
      assert.deepEqual(codes, [-32001, -32002, -32602, -32601, -32009])
    },
  },
  {
    id: 'CORE-ERR-003',
    section: '3.3.2',
    level: 'SHOULD',
    text: 'A refusal of parameters says which one failed and why.',
    async check(stage) {
      const { error, text } = await stage.client.ask('ListTasks', { pageSize: 101 })
      const violations = error?.details[1]?.['fieldViolations'] as readonly object[] | undefined
      assert.match(JSON.stringify(violations), /params\.pageSize/, text)
    },
  },
  {
    id: 'CORE-ERR-004',
    section: '3.3.2',
    level: 'MUST',
    text: 'A caller without permission is refused, and told what is missing.',
    async check(stage) {
      const { key } = await stage.world.mintKey({ scopes: ['observe:read'] })
      const configuration = { taskPushNotificationConfig: { url: 'https://a.example/' } }
      const message = stage.message([{ text: 'x' }])
      const asked = { message, configuration }
      const refused = await stage.clientOf(key).ask('SendMessage', asked)
      refusedFor(refused, 'INSUFFICIENT_SCOPE')
      assert.match(refused.text, /webhooks:write/)
    },
  },
  {
    id: 'AUTH-SERVER-001',
    section: '7.4',
    level: 'MUST',
    text: 'A request without valid credentials is refused, with a challenge.',
    async check({ clientOf }) {
      const headers = { 'a2a-version': '1.0', authorization: 'Bearer nothing' }
      const refused = await clientOf('nothing').ask('ListTasks', {}, headers)
      assert.deepEqual([refused.status, refused.result?.['tasks']], [401, undefined])
      assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer/)
    },
  },
  {
    id: 'DM-SERIAL-001',
    section: '5.5',
    level: 'MUST',
    text: 'Names are camelCase, enumerations are the names of the protocol.',
    async check(stage) {
      const task = await stage.ask()
      const names = [...Object.keys(task), ...Object.keys(task.history?.[0] ?? {})]
      assert.ok(
        names.every((one) => /^[a-z][A-Za-z]*$/.test(one)),
        String(names),
      )
      assert.match(task.status.state, /^TASK_STATE_/)
    },
  },
  {
    id: 'DM-SERIAL-002',
    section: '5.6.1',
    level: 'MUST',
    text: 'Instants are ISO 8601 in UTC with milliseconds.',
    async check(stage) {
      const { timestamp } = (await stage.read()).status
      assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    },
  },
  {
    id: 'DM-SERIAL-003',
    section: '5.7',
    level: 'SHOULD',
    text: 'Unknown fields are ignored, and null is unset.',
    async check(stage) {
      const more = { unknown: { a: 1 }, taskId: null, contextId: null, extensions: null }
      const message = stage.message([{ text: 'x', filename: null, metadata: null }], more)
      const task = await stage.send(message, { historyLength: null, unknown: 1 })
      assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED')
      const listing = await stage.client.ask('ListTasks', { contextId: task.contextId })
      assert.equal(listing.error, undefined)
      assert.equal(/:null/.test(listing.text), false, 'what is unset is left out')
    },
  },
  {
    id: 'DM-SERIAL-004',
    section: '5.7',
    level: 'SHOULD',
    text: 'A message without a required field is refused.',
    async check(stage) {
      for (const field of ['messageId', 'role', 'parts']) {
        const message = { ...stage.message([{ text: 'x' }]), [field]: undefined }
        refusedFor(await stage.refused(message), 'INVALID_REQUEST')
      }
    },
  },
  {
    id: 'EXT-001',
    section: '4.6.3',
    level: 'SHOULD',
    text: 'An extension that is not supported is ignored.',
    async check({ client }) {
      const headers = { 'a2a-version': '1.0', 'a2a-extensions': 'https://a.example/ext/v1' }
      assert.ok((await client.ask('ListTasks', {}, headers)).result)
    },
  },
  {
    id: 'HTTP_JSON-STATUS-001',
    section: '5.4',
    level: 'MUST',
    text: 'Every error of the protocol has its status of HTTP.',
    only: 'HTTP+JSON',
    async check(stage) {
      const { client } = stage
      const { id } = await stage.read()
      const part = { raw: 'dGNr', mediaType: 'application/x-unsupported' }
      const statuses = [
        (await client.ask('GetTask', { id: 'nothing' })).status,
        (await client.ask('CancelTask', { id })).status,
        (await stage.refused(stage.message([part]))).status,
        (await client.ask('ListTasks', { pageSize: 0 })).status,
        (await client.ask('ListTasks', {}, {})).status,
      ]
      assert.deepEqual(statuses, [404, 400, 400, 400, 400])
    },
  },
  {
    id: 'HTTP_JSON-ERR-002',
    section: '11.6',
    level: 'MUST',
    text: 'Errors of the protocol have an ErrorInfo of its domain.',
    only: 'HTTP+JSON',
    async check({ client }) {
      const { error } = await client.ask('GetTask', { id: 'nothing' })
      const info = error?.details[0]
      assert.deepEqual([info?.['reason'], info?.['domain']], ['TASK_NOT_FOUND', 'a2a-protocol.org'])
    },
  },
  {
    id: 'HTTP_JSON-QP-001',
    section: '11.5',
    level: 'MUST',
    text: 'Parameters of a query are camelCase.',
    only: 'HTTP+JSON',
    async check(stage) {
      await stage.read({ contextId: 'of-the-query' })
      assert.equal((await listed(stage, { contextId: 'of-the-query' })).totalSize, 1)
    },
  },
]

/** Errors, versions, data and both bindings (sections 3.3, 3.6, 4 to 7, 9, 11). */
export const COMMON: readonly Clause[] = CLAUSES

import { Message, SendMessageRequest, Task, TaskState, taskStateToJSON } from '@a2a-js/sdk'
import t from 'tap'
import { printError } from '../../daemon/a2a/errors.ts'
import { isRefused, readRpc } from '../../daemon/a2a/json-rpc.ts'
import { METHODS } from '../../daemon/a2a/methods.ts'
import { ProtocolError } from '../../daemon/a2a/protocol-errors.ts'
import { matchRest } from '../../daemon/a2a/rest.ts'
import { STATE_OF_STATUS, isFinal, isUnderWay, stateOf } from '../../daemon/a2a/states.ts'
import { STATE_NAMES } from '../../daemon/jobs/tasks.ts'
import type { WireTask } from '../../daemon/a2a/wire.ts'
import { listRequest, sendRequest } from '../../daemon/a2a/wire.ts'
import { httpError } from '../../daemon/operations/errors.ts'
import { kernelError } from '../../lib/errors.ts'
import { TASK_STATES } from '../../plugins/platform/contract/tasks.ts'
import { DEPLOYMENT_STATUSES } from '../../plugins/platform/models/deployments.ts'
import { EDIT_STATUSES } from '../../plugins/platform/models/edits.ts'

const CONTEXT = { baseUrl: 'https://api.example.com', requestId: 'req_1' }

await t.test('every state has its name in the protocol', async (t) => {
  const names = Object.values(TaskState)
    .filter((one): one is TaskState => typeof one === 'number')
    .map(taskStateToJSON)
  for (const state of TASK_STATES) t.ok(names.includes(STATE_NAMES[state]), state)
  t.same(TASK_STATES.filter(isUnderWay), ['submitted', 'working'])
  t.same(TASK_STATES.filter(isFinal), ['completed', 'failed', 'canceled', 'rejected'])
})

await t.test('every status of an edit, a deployment and an app is a state', async (t) => {
  const statuses = [...EDIT_STATUSES, ...DEPLOYMENT_STATUSES, 'creating', 'ready', 'failed']
  t.same(new Set(Object.keys(STATE_OF_STATUS)), new Set(statuses))
  t.equal(stateOf({}, false), 'completed')
  t.equal(stateOf({ status: 'boiling' }, true), 'submitted')
  t.equal(stateOf({ status: 'failed' }, false), 'failed')
  t.equal(stateOf({ status: 'queued' }, false), 'completed', 'what would be made')
})

await t.test('errors of the protocol have its codes and the statuses of 1.0.1', async (t) => {
  for (const [reason, rpc, http, status] of [
    ['TASK_NOT_FOUND', -32001, 404, 'NOT_FOUND'],
    ['TASK_NOT_CANCELABLE', -32002, 400, 'FAILED_PRECONDITION'],
    ['VERSION_NOT_SUPPORTED', -32009, 400, 'FAILED_PRECONDITION'],
  ] as const) {
    const printed = printError(new ProtocolError(reason), CONTEXT)
    t.match(printed, { rpc, http, status }, reason)
    t.match(printed.details, [{ '@type': /ErrorInfo$/, domain: 'a2a-protocol.org' }])
  }
})

await t.test('our errors have our code, and say nothing of what exists', async (t) => {
  const missing = { required_scopes: ['apps:read'], missing_scopes: ['apps:read'] }
  const cases = [
    [kernelError('insufficient_scope', { details: missing }), -32010, 403, 'PERMISSION_DENIED'],
    [httpError('account_not_found'), -32602, 400, 'INVALID_ARGUMENT'],
    [
      kernelError('rate_limited', { details: { retry_after: 7 } }),
      -32011,
      429,
      'RESOURCE_EXHAUSTED',
    ],
    [httpError('unsupported_media_type'), -32005, 400, 'INVALID_ARGUMENT'],
    [new Error('of the database'), -32603, 500, 'INTERNAL'],
  ] as const
  for (const [error, rpc, http, status] of cases) {
    const printed = printError(error, CONTEXT)
    t.match({ rpc: printed.rpc, http: printed.http, status: printed.status }, { rpc, http, status })
    t.notMatch(JSON.stringify(printed), 'of the database')
  }
  const refused = printError(cases[0][0], CONTEXT)
  t.match(refused.details, [
    {
      reason: 'INSUFFICIENT_SCOPE',
      domain: 'api.example.com',
      metadata: { code: 'insufficient_scope', requestId: 'req_1', missingScopes: '["apps:read"]' },
    },
  ])
  t.equal(printError(cases[2][0], CONTEXT).retryAfter, 7)
})

await t.test('an envelope of JSON-RPC is read, or its fault is the response', async (t) => {
  const envelope = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }
  const read = readRpc(envelope)
  t.notOk(isRefused(read))
  t.match(read, { id: 1, name: 'GetTask' })
  for (const [message, code, id] of [
    [[envelope], -32600, null],
    [null, -32600, null],
    ['GetTask', -32600, null],
    [{ ...envelope, jsonrpc: '1.0' }, -32600, 1],
    [{ ...envelope, id: { a: 1 } }, -32600, null],
    [{ ...envelope, id: 2 ** 53 }, -32600, null],
    [{ ...envelope, id: 1.5 }, -32600, null],
    [{ ...envelope, id: null }, -32600, null],
    [{ ...envelope, method: 3 }, -32600, 1],
    [{ ...envelope, method: 'tasks/get' }, -32601, 1],
    [{ ...envelope, method: 'gettask' }, -32601, 1],
    [{ ...envelope, method: '__proto__' }, -32601, 1],
    [{ ...envelope, method: 'toString' }, -32601, 1],
    [{ ...envelope, params: [] }, -32602, 1],
    [{ ...envelope, params: null }, -32602, 1],
  ] as const) {
    const refused = readRpc(message)
    t.match(refused, { jsonrpc: '2.0', id, error: { code } }, JSON.stringify(message))
  }
})

await t.test('every method is found at its path, and the others are not', async (t) => {
  const at = (verb: string, path: string) => {
    const match = matchRest(verb, path)
    return 'name' in match ? [match.name, { ...match.fields }] : match
  }
  t.same(at('POST', '/message:send'), ['SendMessage', {}])
  t.same(at('POST', '/message:stream'), ['SendStreamingMessage', {}])
  t.same(at('GET', '/tasks/a%20b'), ['GetTask', { id: 'a b' }])
  t.same(at('GET', '/tasks'), ['ListTasks', {}])
  t.same(at('POST', '/tasks/x:cancel'), ['CancelTask', { id: 'x' }])
  t.same(at('GET', '/tasks/x:subscribe'), ['SubscribeToTask', { id: 'x' }])
  t.same(at('DELETE', '/tasks/x/pushNotificationConfigs/y'), [
    'DeleteTaskPushNotificationConfig',
    { taskId: 'x', id: 'y' },
  ])
  t.same(at('GET', '/extendedAgentCard'), ['GetExtendedAgentCard', {}])
  t.same(at('GET', '/message:send'), ['POST'], 'another verb')
  t.same(at('PUT', '/tasks/x/pushNotificationConfigs'), ['POST', 'GET'])
  for (const path of ['/', '/tasks/', '/tasks/x/y', '/message:sent', '/tasks/x:cancel:cancel']) {
    t.same(at('POST', path), [], path)
  }
  t.same(at('GET', '/tasks/%ff'), ['GetTask', { id: '%ff' }])
  const named = Object.values(METHODS).flatMap(({ rest }) => rest)
  t.equal(new Set(named.map(({ verb, path }) => `${verb} ${path}`)).size, named.length)
})

await t.test('requests as the SDK prints them are read; unknown fields are ignored', async (t) => {
  const message = Message.fromJSON({
    messageId: 'm',
    role: 'ROLE_USER',
    parts: [{ text: 'a' }, { data: { b: [1, null] } }, { raw: 'aGk=' }, { url: 'https://x' }],
    metadata: { skill: 'edits_create' },
  })
  const request = SendMessageRequest.toJSON({
    tenant: '',
    message,
    configuration: undefined,
    metadata: undefined,
  }) as object
  const read = sendRequest.parse({ ...request, unknown: 1 })
  t.match(read, {
    message: { messageId: 'm', contextId: '', taskId: '', role: 'ROLE_USER' },
    configuration: { returnImmediately: false },
  })
  t.equal(read.message.parts.length, 4)
})

await t.test('what a request must have is asked for', async (t) => {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }
  t.ok(sendRequest.safeParse({ message }).success)
  for (const changes of [
    { messageId: '' },
    { messageId: undefined },
    { role: 'ROLE_AGENT' },
    { role: 'user' },
    { parts: [] },
    { parts: [{}] },
    { parts: [{ text: 'x', url: 'y' }] },
    { parts: [{ text: 3 }] },
    { contextId: 'a\nb' },
    { contextId: 'x'.repeat(101) },
    { metadata: [] },
  ]) {
    const given = { message: { ...message, ...changes } }
    t.notOk(sendRequest.safeParse(given).success, JSON.stringify(changes))
  }
  for (const historyLength of [-1, 'x', 0.5]) {
    const given = { message, configuration: { historyLength } }
    t.notOk(sendRequest.safeParse(given).success, String(historyLength))
  }
  t.notOk(sendRequest.safeParse({ message, tenant: 'other' }).success)
})

await t.test('filters of a list are JSON, or the texts of a query', async (t) => {
  t.match(listRequest.parse({}), { pageSize: 50, pageToken: '', includeArtifacts: false })
  t.match(listRequest.parse({ pageSize: '7', historyLength: '0', includeArtifacts: 'true' }), {
    pageSize: 7,
    historyLength: 0,
    includeArtifacts: true,
  })
  for (const wrong of [
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: -1 },
    { pageSize: 'x' },
    { pageToken: 'made up' },
    { status: 'TASK_STATE_BOILING' },
    { statusTimestampAfter: 'yesterday' },
    { includeArtifacts: 'yes' },
    { historyLength: -1 },
  ]) {
    t.notOk(listRequest.safeParse(wrong).success, JSON.stringify(wrong))
  }
})

await t.test('a task is the same after the SDK has read and printed it', async (t) => {
  const message = {
    messageId: 'm',
    contextId: 'c',
    taskId: 't',
    role: 'ROLE_AGENT',
    parts: [{ text: 'a' }, { data: { a: [1, null, 'x'] }, mediaType: 'application/json' }],
  } as const
  const task: WireTask = {
    id: 't',
    contextId: 'c',
    status: { state: 'TASK_STATE_FAILED', message, timestamp: '2026-11-24T10:00:00.123Z' },
    artifacts: [
      {
        artifactId: 'record',
        name: 'record',
        parts: [{ data: { id: 1 }, mediaType: 'application/json' }],
      },
      {
        artifactId: 'preview',
        name: 'preview',
        parts: [{ url: 'https://x', mediaType: 'text/html' }],
      },
    ],
    history: [message],
    metadata: { skill: 'edits_create' },
  }
  t.same(Task.toJSON(Task.fromJSON(task)), task)
})

import type { Test } from 'tap'
import { publicCard } from '../../../daemon/agents/card.ts'
import { until } from '../../support/daemon.ts'
import { message } from '../../support/mcp.ts'
import type { Page } from '../../support/webhooks.ts'
import type { AnyBody, World } from '../../support/world.ts'
import type { Saw } from '../run.ts'
import type { Twin } from './twins.ts'

interface Request {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

const rpc = (method: string, params: AnyBody): Request => ({
  path: '/a2a',
  headers: { 'a2a-version': '1.0' },
  body: { jsonrpc: '2.0', id: 1, method, params },
})

const sending = (app_id: string, messageId: string): AnyBody => ({
  message: {
    messageId,
    role: 'ROLE_USER',
    parts: [{ data: { app_id, prompt: 'Make it green' } }],
    metadata: { skill: 'edits_create' },
  },
})

function callEdit(app_id: string, progressToken?: string): Request {
  const { body, headers } = message('tools/call', {
    name: 'edits_create',
    arguments: { app_id, prompt: 'Make it green' },
    ...(progressToken !== undefined && { _meta: { progressToken } }),
  })
  return { path: '/mcp', headers, body }
}

/** Requests that wait for work that nobody does. */
function waiting(app: string, streams: boolean): Readonly<Record<string, Request>> {
  return {
    'a request of REST': {
      path: `/v1/apps/${app}/edits?wait=25`,
      headers: {},
      body: { prompt: 'Make it green' },
    },
    'a tool': callEdit(app),
    'a tool that tells its progress': callEdit(app, 'p1'),
    'a message': rpc('SendMessage', sending(app, 'm1')),
    ...(streams && { 'a streamed message': rpc('SendStreamingMessage', sending(app, 'm2')) }),
  }
}

/** Sends a request, and resolves with everything that it answers until its end. */
async function answerTo(
  { baseUrl }: World,
  key: string,
  request: Request,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(baseUrl + request.path, {
    method: 'POST',
    signal,
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...request.headers,
    },
    body: JSON.stringify(request.body),
  })
  return response.text()
}

/** Revokes a key, and the parent of a key, while each of the requests waits beside one that waits on. */
export async function revokeWhileWaiting(t: Test, saw: Saw, { world, user }: Twin): Promise<void> {
  const ask = <Body>(method: string, path: string, body?: unknown) =>
    world.request<Body>(method, path, { as: user, body })
  const { streaming } = publicCard(world.platform).capabilities
  const scopes = ['apps:read', 'edits:*']
  for (const what of Object.keys(waiting('', streaming))) {
    for (const revoked of ['the key', 'its parent'] as const) {
      const made = await ask<{ id: string }>('POST', '/v1/apps', { template_id: 'blank' })
      const edits = async () =>
        (await ask<Page<AnyBody>>('GET', `/v1/apps/${made.body.id}/edits`)).body.data
      const before = (await edits()).length
      const parent = await world.mintKey({ scopes: [...scopes, 'keys:write'] }, user)
      const child = await world.mintKey({ scopes }, parent.key)
      const request = waiting(made.body.id, streaming)[what]
      if (request === undefined) throw new Error(what)
      const end = new AbortController()
      const other = answerTo(
        world,
        (await world.mintKey({ scopes }, user)).key,
        request,
        end.signal,
      )
      const answer = answerTo(world, child.key, request, end.signal)
      await until(`${what} waits`, async () => (await edits()).length === before + 2)
      await ask('DELETE', `/v1/keys/${revoked === 'the key' ? child.id : parent.id}`)
      const first = await Promise.race([answer, other.then(() => undefined)])
      t.ok(first !== undefined, `${what}: it ends before the other one, ${revoked}`)
      saw(/key_revoked/i.test(first ?? '') ? 'key_revoked' : 'accepted')
      end.abort()
      await other.catch(() => undefined)
      for (const { status } of (await edits()).slice(0, 2)) saw(String(status))
    }
  }
}

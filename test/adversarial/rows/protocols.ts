import type { Section } from '../table.ts'

const LINES: readonly (readonly [id: string, what: string, answer: string])[] = [
  [
    'C01',
    'keys of every kind (each scope, wildcards, pinned, expired, revoked, replaced, children, nobody’s) call every tool over MCP, in the newest revision, an earlier one and by the tools that reach every operation, for their records and for those of others',
    'what a twin of the account is told over REST: `the same`, status, code, response and rows',
  ],
  [
    'C02',
    'the same keys ask for every skill over A2A',
    '`the same`; a skill that the key may not ask for is not offered to it, where REST says 403',
  ],
  [
    'C03',
    'keys of accounts that are suspended, or on the plan free since',
    'over REST, MCP and A2A `the same`',
  ],
  [
    'C04',
    'a tool, resource, prompt or task with the records of another account',
    'nothing of it is in any result: `nothing else`',
  ],
  [
    'C05',
    'secrets of a webhook, a service and keys, looked for in all that MCP and A2A say to a key that may do everything',
    'new ones are in the result that makes them, once: `nothing else`',
  ],
  [
    'C06',
    'a key, or its parent, is revoked while MCP or A2A waits for the work that it asked for',
    'the wait ends at once, as over REST: with `key_revoked`, or with the work as it was `accepted`; the work goes on: `queued`',
  ],
  [
    'C07',
    'instructions in the name of an app, in files, logs, messages, the description of an event type and the name of a key',
    'descriptions of tools, prompts, cards and instructions of the server are `the same`; results say that they are `data`',
  ],
  [
    'C08',
    'an address with ?app= for a key that is pinned elsewhere, and an app_id beside it',
    '`404 app_not_found`, as over REST; `400 invalid_request`',
  ],
  [
    'C09',
    'an agent delegates over MCP: a key with narrower scopes, pins, expiry and budget in one call, and one with more',
    'narrower `201`, and it may do that much over MCP and A2A: `200`, `403 insufficient_scope`, `404 app_not_found`; more `403 scope_not_delegable`; with its parent it ends: `401 key_revoked`',
  ],
]

export const PROTOCOLS: Section = {
  letter: 'C',
  title: 'One key, three protocols',
  size: 9,
  rows: LINES.map(([id, what, answer]) => ({ id, case: what, answer })),
}

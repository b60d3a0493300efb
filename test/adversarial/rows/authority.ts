import type { Section } from '../table.ts'

type Line = readonly [id: string, what: string, answer: string]

const LINES: readonly Line[] = [
  // Who may receive the data of an event type.
  [
    'A01',
    'a key of `webhooks:write` subscribes to a declared type, to a type that nobody declared, to `order.*`, to `app.*`',
    '`403 insufficient_scope` naming `events:read`, the same for each; with `events:read` `201`',
  ],
  [
    'A02',
    'a key of `webhooks:write` subscribes to every built-in type and to `*`',
    '`201`; GET /v1/event-types names the scope of each type',
  ],
  [
    'A03',
    'a key of `webhooks:write` adds a declared type or a family to its own webhook',
    '`403 insufficient_scope`; a built-in type or * `200`',
  ],
  [
    'A04',
    'a key of `webhooks:write` redirects a webhook that receives declared types: its url or its apps',
    '`403 insufficient_scope`; the same values again set nothing: `200`',
  ],
  [
    'A05',
    'a key of `webhooks:write` enables a disabled webhook that receives declared types',
    '`403 insufficient_scope`; it may disable one: `200`',
  ],
  [
    'A06',
    'a key of `webhooks:write` replays declared types: by name, by family, by leaving types out, as a dry run',
    '`403 insufficient_scope`, and nothing is sent; built-in types `202`',
  ],
  [
    'A07',
    'a key of `webhooks:write` retries a delivery of a declared type, or what failed',
    '`403 insufficient_scope`; with `events:read` `202`',
  ],
  [
    'A08',
    'a webhook no longer subscribes to a declared type; a key of `webhooks:write` redirects it while an old delivery is retried, or retries what failed afterwards',
    '`403 insufficient_scope`; once nothing is left to retry `200`, and `202` with none queued',
  ],
  [
    'A09',
    'a pinned key redirects a webhook that still delivers events of another app',
    '`403 key_pinned`, while the owner may change its apps: `200`',
  ],
  [
    'A10',
    'an account declares `app.secret`, and a webhook subscribes to `*`; patterns such as `*.paid` or `order*`',
    '* reaches built-in types only, order.* that family and none with a longer name; any other pattern is `400 unknown_event_type`',
  ],
  [
    'A11',
    'a key loses `events:read` while its request to subscribe is under way',
    '`403 insufficient_scope`',
  ],
  // Webhooks that outlive the authority of the keys that set them.
  [
    'A12',
    'a key that set webhooks of declared types is narrowed and loses `events:read`',
    '`200` listing those webhooks, its descendants’ too; ?webhooks=disable disables them',
  ],
  [
    'A13',
    'a key that set webhooks is to expire, or has expired',
    'the key is `401 key_expired`; PATCH, GET, dry_run and DELETE list them: `200`; ?webhooks=disable disables them',
  ],
  [
    'A14',
    'a key redirects webhooks of others: url, events, apps or secret; the owner then changes another part',
    '`200`, and `201` for a new secret; its revocation lists each of them, and none that it only renamed',
  ],
  [
    'A15',
    'a key with 3,000 descendants is revoked, one of which redirected a webhook',
    '`200` listing the first 100 keys, their number, and the webhook',
  ],
  [
    'A16',
    'the previous value of a rotated key creates a webhook, redirects one or rotates its secret',
    '`403 previous_value_restricted`; it may read, rename and test: `200`; the current value creates and rotates: `201`',
  ],
  [
    'A17',
    'a session without a recent proof redirects a webhook or rotates its secret',
    '`403 step_up_required`; it may rename and disable: `200`',
  ],
  [
    'A18',
    'a key creates a webhook, another redirects it, an owner disables it with the revocation',
    'each entry of the audit log names who created it and who last set it: `200`',
  ],
  [
    'A19',
    'a key that lost `webhooks:write` revokes itself to disable the webhooks it once set',
    '`403 insufficient_scope`, the key and the webhooks are as they were; without the wish `200`',
  ],
  [
    'A20',
    'a key is revoked while its replay or retry of what failed, also as a dry run, waits for its turn',
    '`401 key_revoked`, and nothing is sent',
  ],
]

export const AUTHORITY: Section = {
  letter: 'A',
  title: 'Authority that leaks sideways: webhooks, event types',
  size: LINES.length,
  rows: LINES.map(([id, what, answer]) => ({ id, case: what, answer })),
}

import type { Row } from '../table.ts'

type Line = readonly [id: string, what: string, answer: string]

const LINES: readonly Line[] = [
  // What a scope is.
  [
    'K01',
    'scopes outside the grammar: half of one, blanks, upper case, look-alike letters, no text',
    '`400 invalid_scope` naming the element, `400 invalid_request` for what is no text; nothing is minted',
  ],
  [
    'K02',
    'a well-formed scope of a family that nobody declared',
    '`400 invalid_scope`, whoever asks; `201` once the embedder declares the family',
  ],
  [
    'K03',
    'one body with two lists of scopes',
    'the last one is what is judged, stored and answered: `403 scope_not_delegable` or `201`',
  ],
  [
    'K04',
    '65 scopes, or 101 apps',
    '`400 invalid_request`; 64 times the same scope are one: `201`',
  ],
  ['K05', 'a parent of `apps:*` asks for `*:read`', '`403 scope_not_delegable` naming it'],
  [
    'K06',
    'a parent of `*:read` asks for `apps:*`',
    '`403 scope_not_delegable`; for `apps:read` `201`',
  ],
  [
    'K07',
    'a parent of `*:read` and `keys:write` asks for `*:*`, or `apps:write`',
    '`403 scope_not_delegable`',
  ],
  [
    'K08',
    'a parent of every family there is asks for `*:*`, or `*:read`',
    '`403 scope_not_delegable`: wildcards mean what is yet to come, too',
  ],
  [
    'K09',
    'a parent of `apps:read` asks for `apps:*`',
    '`403 scope_not_delegable`, holding `apps:write` or not',
  ],
  ['K10', 'a parent of `*:*` asks for `*:*` and `apps:read`', '`201`, stored as `*:*` alone'],
  [
    'K11',
    'no scopes, null, an empty list',
    '`400 invalid_request`: nothing never means everything',
  ],
  [
    'K12',
    'a key of `*:write` mints by the `keys:write` that it implies',
    'no such key: `*:write` is `400 invalid_scope`',
  ],
  ['K13', 'a key of `keys:read` or `*:read` mints', '`403 insufficient_scope`'],
  [
    'K14',
    'a key of `keys:write` alone mints',
    'another of `keys:write` `201`, one of `keys:read` `403 scope_not_delegable`',
  ],
  [
    'K15',
    'keys below keys below keys, and keys without number',
    'a ninth level below the root is `403 delegation_too_deep`, the 101st live key `409 key_limit_reached`',
  ],
  [
    'K16',
    'a later release brings a family; keys were minted before',
    'before, its path is `404 route_not_found`; then *:read reads it, `200`, and a list of every family of its day does not, `403 insufficient_scope`',
  ],
  // Where it holds.
  ['K17', 'a pinned key mints without naming apps', '`201`, pinned as the minter is'],
  [
    'K18',
    'a pinned key mints for all apps, for none, or for one more',
    'null and none `400 invalid_request`, one more `403 scope_not_delegable`; an app twice is once',
  ],
  [
    'K19',
    'a pinned key of `*:*` asks for what belongs to the whole account',
    'making and cloning apps, event types, events of no app `403 key_pinned`, the audit log `403 owner_required`; lists hold what lies within its pins, and events that name its app are `202`; templates are for everyone, `200`',
  ],
  [
    'K20',
    'a request names one app in its place and another in its data',
    'the place alone counts, of an event its app_id: `202` there; another app is `404 app_not_found`, `403 scope_not_delegable` in a filter, `400 invalid_request` in a body, `400 path_not_allowed` in the path of a file, its edits and files `404 edit_not_found`, `404 file_not_found`',
  ],
  [
    'K21',
    'the only app of a pinned key is gone',
    'archived, nothing in it changes, `409 app_archived`; gone, nothing of any app is seen or changed, and the key never becomes unpinned: `404 app_not_found`, `403 key_pinned`, `403 scope_not_delegable`, another key of the app `404 key_not_found`. An event may still name the app, `202`; its id cannot be asked for again, `400 invalid_request`',
  ],
  [
    'K22',
    'a pinned key reads, changes, rotates, revokes one that is pinned elsewhere or not at all',
    '`404 key_not_found`; their values still work, `200`',
  ],
  ['K23', 'pins are changed afterwards', '`400 invalid_request`: they are for ever'],
  // Until when.
  [
    'K24',
    'a child that is to outlive its parent',
    '`403 scope_not_delegable`, null included; a missing expiry becomes the parent’s: `201`',
  ],
  [
    'K25',
    'the expiry of a parent is moved up',
    'all below it work until then, `200`, and end with it, `401 key_expired`, without a write',
  ],
  [
    'K26',
    'the expiry of a parent is moved back',
    'its children keep their own, `401 key_expired`, while the parent works on, `200`',
  ],
  [
    'K27',
    'a key changes its own expiry',
    'sooner `200`; later, or null for never, `403 expiry_extension_forbidden`',
  ],
  [
    'K28',
    'an expired key is given a later expiry, or rotated',
    '`409 key_not_active`; its value stays `401 key_expired`',
  ],
  [
    'K29',
    'an expiry in the past, without a zone, as a number, of a day that does not exist',
    '`400 invalid_request`',
  ],
  [
    'K30',
    'the very instant of expiry',
    '`200` a millisecond before, `401 key_expired` from the instant on',
  ],
  // Its values.
  [
    'K31',
    'a key rotates one that holds more',
    '`403 key_not_managed`; its value still works, `200`',
  ],
  [
    'K32',
    'a rotation that brings scopes, apps, an expiry or a name',
    '`400 invalid_request`, nothing is rotated: the value is still the current one, `200`',
  ],
  [
    'K33',
    'a key of another account is rotated',
    '`404 key_not_found`, as for an id that nobody has; its value still works, `200`',
  ],
  [
    'K34',
    'two rotations within the grace of the first',
    'each replaced value keeps its own grace: it reads, `200`, and changes nothing, `403 previous_value_restricted`, until it ends, then `401 key_rotated`',
  ],
  [
    'K35',
    'whoever holds the replaced value mints, rotates, changes',
    '`403 previous_value_restricted`; it reads on, `200`',
  ],
  [
    'K36',
    'a key is rotated an hour before it expires',
    'the grace ends with the key, and the answer says so: `200` until then, `401 key_expired` from then on',
  ],
  [
    'K37',
    'a key is revoked in its grace, or rotated without one',
    'both values worked, `200`, and are `401 key_revoked`; the old one is `401 key_rotated`, in the same tick',
  ],
  [
    'K38',
    'two rotations at once, in both orders',
    'one current value, `200`, the others replaced and in their grace: by the key itself the loser is `403 previous_value_restricted`',
  ],
  // Its end, and what comes at the same time.
  [
    'K39',
    'a parent is revoked while its child is being minted, in both orders',
    'the revocation is `200`; `401 key_revoked` for the mint, or `201` for a child that is dead: `401 key_revoked`',
  ],
  [
    'K40',
    'a grandparent is revoked while a grandchild is being minted, in both orders',
    'likewise `200`; `401 key_revoked`, or `201` for a child that is dead',
  ],
  [
    'K41',
    'whoever revokes: the user, the operator, another key, the parent, the key itself, its replaced value',
    '`200`, and `401 key_revoked` for it and all below it',
  ],
  [
    'K42',
    'the row of a parent is deleted under its children',
    'the database refuses it; the child stays a child: `200`, and `401 key_revoked` once its parent is revoked',
  ],
  [
    'K43',
    'a narrowing or a revocation beside a renaming, two narrowings, in both orders',
    'neither is undone: what was revoked is `401 key_revoked`, the later one is `200`, `409 key_not_active` or `403 scope_widening_forbidden`',
  ],
  [
    'K44',
    'a process whose memory still holds a revoked key mints with it',
    'it may still read, `200`, and what writes is `401 key_revoked`: it reads the chain anew',
  ],
  [
    'K45',
    'a revocation commits while a verification reads what was before',
    'the late answer, `200`, is not kept: `401 key_revoked` for all that starts later',
  ],
  // What is not asked for.
  [
    'K46',
    'a body that brings id, account_id, parent_id, hash, version, status',
    '`400 invalid_request` naming the field, in minting, changing and rotating',
  ],
  [
    'K47',
    'headers that ask to act as another key or account, a key outside Authorization',
    'they mean nothing: `200` as itself, `401 missing_credentials` without',
  ],
  [
    'K48',
    'a key of `*:*` at the operator’s and the session’s doors, and other secrets as keys',
    '`403 operator_required`, `403 session_required`; `401 session_expired` as a cookie, `401 invalid_key` for a webhook’s secret',
  ],
  [
    'K49',
    'the owner or the operator makes a weak key',
    'it is weak: `403 insufficient_scope` for more than it holds, `200` for that',
  ],
  [
    'K50',
    'a key turns against its parent or uncle',
    'one that holds more, and rotating any, `403 key_not_managed`; one that holds no more may be revoked, and the key itself always: `200`, then `401 key_revoked`',
  ],
  [
    'K51',
    'a request that began before the revocation, its body still on the way; an answer that is still being given',
    '`401 key_revoked` and no effect; a stream that is open says so and ends, also when an ancestor was revoked',
  ],
  [
    'K52',
    'guesses: a wrong checksum, a cut, another prefix, a value that nobody holds',
    'one and the same `401 invalid_key`, without a query where the form is wrong; holders alone are told `401 key_revoked`, `401 key_expired`',
  ],
  // What is left of keys that ended.
  [
    'K53',
    'an account that mints and revokes keys all day goes on minting, verifying, listing, rotating, extending and revoking',
    'the plans of its statements read `no keys that ended`',
  ],
  [
    'K54',
    'a key mints and revokes a hundred keys, and is revoked',
    'the response lists what ends with it, `1 key`, and `200` again for the same key',
  ],
  [
    'K55',
    'a key that is pinned to one app lists all keys of an account that revoked thousands of others',
    'a page examines 10,000 keys: `an empty page with a cursor`, then `its own key`',
  ],
  [
    'K56',
    'the holders of keys that ended long ago',
    '`401 key_revoked` or `401 key_expired` for 30 days, then the key is deleted: `401 invalid_key`, `404 key_not_found` to its account, and its entries stay in the audit log; what is live stays, `200`, and so does what it was minted by',
  ],
  [
    'K57',
    'a key is rotated without a grace in a loop, 20,000 times',
    'its current value is `200`, each ended one `401 key_rotated`; verifying, listing and rotating it read and rewrite `no ended values`',
  ],
  [
    'K58',
    'the holders of values that were replaced and ended long ago',
    '`401 key_rotated` for 30 days, then the value is deleted and unknown: `401 invalid_key`; the current one is `200`. The purge reads `no younger values`',
  ],
  [
    'K59',
    'each ended value of a key deep below others is presented once, and values of keys that were revoked or expired',
    '`401 key_rotated`, `401 key_revoked`, `401 key_expired`, again without reading; `no key` of their lines stays in memory. The current value is `200`, as one was before its expiry',
  ],
]

export const KEY_ROWS: readonly Row[] = LINES.map(([id, what, answer]) => ({
  id,
  case: what,
  answer,
}))

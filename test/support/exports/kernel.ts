import { randomBytes } from 'node:crypto'
import * as kernel from '../../../lib/index.ts'
import { createMemoryStore } from '../../../plugins/store/memory.ts'
import type { Declared } from './mutate.ts'

const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length))
const clock = {
  now: () => 1_700_000_000_000,
  steady: () => 0,
  after: () => () => undefined,
  taken: () => Promise.resolve(),
}
const universe = kernel.createUniverse({ orders: ['read', 'write'] })
const authority = {
  scopes: ['orders:read'],
  pins: new Set(['app_1']),
  expires_at: 1_800_000_000_000,
}
const keyring = kernel.createKeyring([{ id: 'k1', key: random(32) }], random)
const secret = kernel.mintSecret(random)
const body = new TextEncoder().encode('{}')
const row = { status: 400, text: 'No.' }

const nullable = (path: string): NonNullable<Declared['also']> => ({
  [`${path}.pins`]: ['string'],
  [`${path}.expires_at`]: ['null'],
})

/** A state and what may be null in it. */
const state = { status: 'delivering', attempts: 1, automatic: 1, trigger: 'event', next_at: 1 }

/** A right call of each function of `keyhook`. */
export const KERNEL: Readonly<Record<string, Declared>> = {
  KeyhookError: {
    construct: true,
    args: [
      'refused',
      row,
      {
        message: 'No.',
        details: { why: 1 },
        errors: [{ location: 'body', code: 'bad', message: 'No.' }],
        internal: 'why',
        cause: new Error('why'),
      },
    ],
    optional: ['2', '2.message', '2.details', '2.errors', '2.internal', '2.cause'],
    records: ['1', '2.errors.0'],
    maps: ['2.details'],
    also: { '2.details.why': ['any'], '2.cause': ['any'] },
    empty: ['2.errors'],
  },
  defineErrors: { args: [{ refused: row }], maps: ['0'], records: ['0.refused'] },
  isToken: { args: ['service_dk_', 'value'], also: { 1: ['any'] } },
  mintToken: { args: ['service_dk_', random] },
  hashToken: { args: ['value'] },
  createUniverse: { args: [{ orders: ['read'] }], maps: ['0'] },
  parseScopes: {
    args: [['orders:read'], universe, 'scopes'],
    optional: ['2'],
    codes: ['invalid_scope'],
  },
  allows: { args: [['orders:read'], 'orders:read'], empty: ['0'] },
  covers: { args: [['orders:read'], 'orders:read'], empty: ['0'] },
  requiredScope: { args: ['orders:read', universe] },
  uncovered: { args: [['orders:read'], ['orders:read']], empty: ['0'] },
  effectiveAuthority: {
    args: [[authority]],
    records: ['0.0'],
    also: nullable('0.0'),
    empty: ['0.0.scopes'],
  },
  meetAuthority: {
    args: [authority, authority],
    records: ['0', '1'],
    also: { ...nullable('0'), ...nullable('1') },
    empty: ['0.scopes', '1.scopes'],
  },
  exceeds: {
    args: [authority, authority],
    records: ['0', '1'],
    also: { ...nullable('0'), ...nullable('1') },
    empty: ['0.scopes', '1.scopes'],
  },
  brandNames: { args: ['service'] },
  mintSecret: { args: [random] },
  signatureHeader: { args: [1, body, [secret]] },
  standardSignature: { args: ['evt_1', 1, body, [secret]] },
  WebhookVerificationError: {
    construct: true,
    args: ['header_missing', { cause: new Error('why'), message: 'Why.' }],
    optional: ['1', '1.cause', '1.message'],
    also: { '1.cause': ['any'] },
  },
  verifyWebhook: {
    args: ['{}', { 'service-signature': 't=1,v1=00' }, secret, { tolerance: 1, now: 1 }],
    optional: ['3', '3.tolerance', '3.now'],
    // A body, headers or a secret that are none are refused as what arrives is.
    also: { 2: ['list'] },
    maps: ['1'],
    codes: [
      'body_not_raw',
      'header_malformed',
      'header_missing',
      'secret_malformed',
      'signature_mismatch',
      'timestamp_outside_tolerance',
    ],
  },
  parseSchedule: { args: ['1,2,4'], codes: ['invalid_schedule'] },
  transition: {
    args: [state, { type: 'retry_requested', trigger: 'manual' }, 1, [1000]],
    records: ['0'],
    optional: ['1.trigger'],
    also: { '0.next_at': ['null'] },
  },
  createEngine: {
    args: [
      {
        store: createMemoryStore(),
        sender: { send: () => Promise.reject(new Error('sent')) },
        clock,
        random,
        newId: () => 'id',
        keyring,
        names: kernel.brandNames('service'),
        schedule: [1000],
        disabling: { failures: 3, span: 0 },
        limits: { total: 2, perWebhook: 1 },
        timeout: 1000,
        lease: 2000,
        events: { committed: () => undefined },
        isBuiltIn: () => false,
      },
    ],
    optional: [
      '0.lease',
      '0.events',
      '0.isBuiltIn',
      '0.events.committed',
      '0.names.challengeLabel',
    ],
    opaque: ['0.store', '0.sender', '0.clock', '0.keyring'],
    records: ['0.names', '0.disabling', '0.limits'],
    also: { '0.names.challengeLabel': ['any'] },
  },
  createKeyring: { args: [[{ id: 'k1', key: random(32) }], random], records: ['0.0'] },
  parseMasterKeys: { args: [`k1:${Buffer.alloc(32, 1).toString('base64')}`] },
  createVerifier: {
    args: [
      {
        store: { findChain: () => Promise.resolve(undefined) },
        changes: { listen: () => undefined, isCurrent: () => true },
        clock,
        prefix: 'service_dk_',
        maxEntries: 10,
        counts: { cache: 0, store: 0 },
      },
    ],
    optional: ['0.maxEntries', '0.counts'],
    opaque: ['0.clock'],
    records: ['0.store', '0.changes', '0.counts'],
  },
}

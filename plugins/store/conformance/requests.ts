import assert from 'node:assert/strict'
import type { AuditQuery, AuditRecord, IdempotencyRecord } from '../contract/requests.ts'
import type { StoreCase } from './harness.ts'
import { assertOneWon, openRacers } from './harness.ts'
import { ACCOUNT, BORN, STRANGER } from './samples.ts'

function record(changes: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  return {
    scope: 'key_1 POST /v1/keys',
    key: 'once',
    fingerprint: 'f1',
    answer: null,
    created_at: BORN,
    expires_at: BORN + 1000,
    ...changes,
  }
}

const { scope, key } = record()
const ANSWER = { status: 201, body: '{"id":"key_2","name":"Ünïcode"}' }
/** With the mark that is known once the whole body came in. */
const ANSWERED = { scope, key, fingerprint: 'f3', answer: ANSWER, expires_at: BORN + 5000 }

const AUDIT: AuditRecord = {
  id: 'aud_1',
  account_id: ACCOUNT,
  at: BORN,
  actor_type: 'user',
  actor_id: null,
  action: 'key.create',
  target_type: 'key',
  target_id: 'key_1',
  app_id: null,
  request_id: 'req_1',
  ip: '127.0.0.1',
  protocol: 'a2a',
  client: 'planner/2.0',
  origins: null,
}

const ALL: AuditQuery = {
  account_id: ACCOUNT,
  action: null,
  actor_id: null,
  target_id: null,
  limit: 10,
  after: null,
}

export const requestCases: readonly StoreCase[] = [
  {
    name: 'claimIdempotency: of concurrent twins exactly one claims',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const claims = [a, b, a].map((store, index) =>
        store.write((tx) => tx.requests.claimIdempotency(record({ fingerprint: `f${index}` }))),
      )
      const won = await Promise.all(claims)
      assertOneWon(won)
      const kept = await b.requests.idempotency(scope, key, BORN)
      assert.deepEqual(kept, record({ fingerprint: `f${won.indexOf(true)}` }))
    },
  },
  {
    name: 'claimIdempotency: a key that was answered is not claimed again; its answer is kept',
    async run({ open }) {
      const store = await open()
      await store.write(async (tx) => {
        assert.equal(await tx.requests.claimIdempotency(record()), true)
        await tx.requests.answerIdempotency(ANSWERED)
      })
      const again = record({ fingerprint: 'f2', created_at: BORN + 999 })
      assert.equal(await store.write((tx) => tx.requests.claimIdempotency(again)), false)
      const kept = await store.requests.idempotency(scope, key, BORN + 999)
      assert.deepEqual(kept, record(ANSWERED))
    },
  },
  {
    name: 'answerIdempotency: what was answered is not answered over',
    async run({ open }) {
      const store = await open()
      const late = { ...ANSWERED, fingerprint: 'f4', answer: { status: 200, body: '{}' } }
      await store.write((tx) => tx.requests.claimIdempotency(record()))
      await store.write((tx) => tx.requests.answerIdempotency(ANSWERED))
      await store.write((tx) => tx.requests.answerIdempotency(late))
      assert.deepEqual(await store.requests.idempotency(scope, key, BORN), record(ANSWERED))
    },
  },
  {
    name: 'idempotency: keys are separate by scope; an unknown one is undefined',
    async run({ open }) {
      const store = await open()
      const claim = (one: IdempotencyRecord) =>
        store.write((tx) => tx.requests.claimIdempotency(one))
      const answered = record({ scope: 'key_2 POST /v1/keys', answer: ANSWER })
      assert.equal(await claim(record()), true)
      assert.equal(await claim(answered), true)
      assert.deepEqual(await store.requests.idempotency(answered.scope, key, BORN), answered)
      assert.equal(await store.requests.idempotency(scope, 'other', BORN), undefined)
    },
  },
  {
    name: 'claimIdempotency: a record that expired, from that very instant on, is gone and replaced',
    async run({ open }) {
      const store = await open()
      await store.write((tx) => tx.requests.claimIdempotency(record({ answer: ANSWER })))
      assert.notEqual(await store.requests.idempotency(scope, key, BORN + 999), undefined)
      assert.equal(await store.requests.idempotency(scope, key, BORN + 1000), undefined)
      const next = record({ fingerprint: 'f2', created_at: BORN + 1000, expires_at: BORN + 2000 })
      assert.equal(await store.write((tx) => tx.requests.claimIdempotency(next)), true)
      assert.deepEqual(await store.requests.idempotency(scope, key, BORN + 1000), next)
    },
  },
  {
    name: 'renewIdempotency: extends a claim, never an answer or the claim that followed',
    async run({ open }) {
      const store = await open()
      const renew = (expires_at: number) =>
        store.write((tx) => tx.requests.renewIdempotency(record({ expires_at })))
      await renew(BORN + 2000)
      assert.equal(await store.requests.idempotency(scope, key, BORN), undefined, 'not claimed')
      assert.equal(await store.write((tx) => tx.requests.claimIdempotency(record())), true)
      await renew(BORN + 2000)
      const renewed = record({ expires_at: BORN + 2000 })
      assert.deepEqual(await store.requests.idempotency(scope, key, BORN + 1999), renewed)
      const next = record({ created_at: BORN + 2000, expires_at: BORN + 3000 })
      assert.equal(await store.write((tx) => tx.requests.claimIdempotency(next)), true)
      await renew(BORN + 9000)
      assert.deepEqual(await store.requests.idempotency(scope, key, BORN + 2000), next)
      await store.write((tx) => tx.requests.answerIdempotency(ANSWERED))
      await store.write((tx) => tx.requests.renewIdempotency({ ...next, expires_at: BORN + 9000 }))
      const kept = record({ ...ANSWERED, created_at: BORN + 2000 })
      assert.deepEqual(await store.requests.idempotency(scope, key, BORN + 2000), kept)
    },
  },
  {
    name: 'dropIdempotency: gives back a key whose work failed, never one that was answered',
    async run({ open }) {
      const store = await open()
      const claim = () => store.write((tx) => tx.requests.claimIdempotency(record()))
      const drop = () => store.write((tx) => tx.requests.dropIdempotency(record()))
      await claim()
      await drop()
      assert.equal(await store.requests.idempotency(scope, key, BORN), undefined)
      assert.equal(await claim(), true)
      await store.write((tx) => tx.requests.answerIdempotency(ANSWERED))
      await drop()
      assert.deepEqual(await store.requests.idempotency(scope, key, BORN + 4999), record(ANSWERED))
    },
  },
  {
    name: 'dropIdempotency: leaves a claim that followed an expired one',
    async run({ open }) {
      const store = await open()
      const next = record({ created_at: BORN + 1000, expires_at: BORN + 2000 })
      for (const claim of [record(), next]) {
        assert.equal(await store.write((tx) => tx.requests.claimIdempotency(claim)), true)
      }
      await store.write((tx) => tx.requests.dropIdempotency(record()))
      assert.deepEqual(await store.requests.idempotency(scope, key, BORN + 1000), next)
      await store.write((tx) => tx.requests.dropIdempotency(next))
      assert.equal(await store.requests.idempotency(scope, key, BORN + 1000), undefined)
    },
  },
  {
    name: 'audit: an entry is kept with its unit and never written over',
    async run({ open }) {
      const store = await open()
      const failing = store.write(async (tx) => {
        await tx.requests.insertAudit(AUDIT)
        throw new Error('changed my mind')
      })
      await assert.rejects(failing, /changed my mind/)
      await store.write((tx) => tx.requests.insertAudit(AUDIT))
      const forged = { ...AUDIT, action: 'forged' }
      await assert.rejects(store.write((tx) => tx.requests.insertAudit(forged)))
      assert.deepEqual((await store.requests.audit(ALL)).rows, [AUDIT])
    },
  },
  {
    name: 'audit: an entry about a webhook names who created and who last set it',
    async run({ open }) {
      const store = await open()
      const origins = {
        created_by: { type: 'key', id: 'key_1' },
        set_by: { type: 'operator', id: null },
      } as const
      const entry = { ...AUDIT, target_type: 'webhook', target_id: 'wh_1', origins }
      await store.write((tx) => tx.requests.insertAudit(entry))
      assert.deepEqual((await store.requests.audit(ALL)).rows, [entry])
    },
  },
  {
    name: 'audit: lists newest first by action, actor and target',
    async run({ open }) {
      const store = await open()
      const entries = [
        AUDIT,
        { ...AUDIT, id: 'aud_2', action: 'key.revoked', actor_id: 'usr_1' },
        { ...AUDIT, id: 'aud_3', target_id: 'key_2', ip: null, protocol: null, client: null },
        { ...AUDIT, id: 'aud_4', account_id: STRANGER },
      ]
      await store.write(async (tx) => {
        for (const entry of entries) await tx.requests.insertAudit(entry)
      })
      const list = async (query: Partial<AuditQuery>) =>
        (await store.requests.audit({ ...ALL, ...query })).rows.map(({ id }) => id)
      assert.deepEqual(await list({}), ['aud_3', 'aud_2', 'aud_1'])
      assert.deepEqual(await list({ after: 'aud_3', limit: 1 }), ['aud_2'])
      assert.deepEqual(await list({ action: 'key.revoked' }), ['aud_2'])
      assert.deepEqual(await list({ actor_id: 'usr_1' }), ['aud_2'])
      assert.deepEqual(await list({ target_id: 'key_2' }), ['aud_3'])
    },
  },
]

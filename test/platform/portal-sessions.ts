import assert from 'node:assert/strict'
import type { PortalSessionRecord } from '../../plugins/platform/contract/portal-sessions.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'

const RACERS = 20

function sampleLink(changes: Partial<PortalSessionRecord> = {}): PortalSessionRecord {
  return {
    id: 'portal_1',
    account_id: ACCOUNT,
    hash: 'hash of the link',
    scopes: 'keys:read webhooks:*',
    created_at: BORN,
    opened_at: null,
    expires_at: BORN + 100,
    ...changes,
  }
}

const session = { hash: 'hash of the session', expires_at: BORN + 1000 }

export const portalSessionCases: readonly PlatformCase[] = [
  {
    name: 'portalSessions: a link is no session until it is opened, and no link afterwards',
    async run({ open }) {
      const store = await open()
      const link = sampleLink()
      await store.write((tx) => tx.portalSessions.insert(link))
      assert.equal(await store.portalSessions.get(link.hash), undefined)
      const opened = await store.write((tx) =>
        tx.portalSessions.open(link.hash, session, BORN + 99),
      )
      assert.deepEqual(opened, { ...link, ...session, opened_at: BORN + 99 })
      assert.deepEqual(await store.portalSessions.get(session.hash), opened)
      assert.equal(await store.portalSessions.get(link.hash), undefined)
      for (const hash of [link.hash, session.hash]) {
        const again = { hash: 'another hash', expires_at: BORN + 2000 }
        const found = await store.write((tx) => tx.portalSessions.open(hash, again, BORN + 99))
        assert.equal(found, undefined, hash)
      }
    },
  },
  {
    name: 'portalSessions: of twenty callers exactly one opens a link',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const link = sampleLink()
      await a.write((tx) => tx.portalSessions.insert(link))
      const opened = await Promise.all(
        Array.from({ length: RACERS }, (_, at) =>
          (at % 2 === 0 ? a : b).write((tx) =>
            tx.portalSessions.open(link.hash, { ...session, hash: `session ${at}` }, BORN),
          ),
        ),
      )
      const [won, ...others] = opened.filter((one) => one !== undefined)
      assert.equal(others.length, 0)
      assert.deepEqual(await b.portalSessions.get(won?.hash ?? ''), won)
    },
  },
  {
    name: 'portalSessions: a link that expires now opens nothing',
    async run({ open }) {
      const store = await open()
      const link = sampleLink()
      await store.write((tx) => tx.portalSessions.insert(link))
      const late = await store.write((tx) =>
        tx.portalSessions.open(link.hash, session, link.expires_at),
      )
      assert.equal(late, undefined)
      assert.equal(await store.portalSessions.get(session.hash), undefined)
    },
  },
  {
    name: 'portalSessions: one is ended by its id, and all of an account with their links',
    async run({ open }) {
      const store = await open()
      const ids = ['portal_1', 'portal_2', 'portal_3']
      await store.write(async (tx) => {
        for (const id of ids) await tx.portalSessions.insert(sampleLink({ id, hash: id }))
        await tx.portalSessions.insert(
          sampleLink({ id: 'portal_4', hash: 'portal_4', account_id: 'acc_2' }),
        )
      })
      const opening = (hash: string) =>
        store.write((tx) => tx.portalSessions.open(hash, { ...session, hash: `s ${hash}` }, BORN))
      await opening('portal_1')
      await opening('portal_2')
      const end = (which: { readonly id: string } | { readonly account_id: string }) =>
        store.write((tx) => tx.portalSessions.end(which))
      assert.equal(await end({ id: 'portal_1' }), 1)
      assert.equal(await end({ id: 'portal_1' }), 0)
      assert.equal(await store.portalSessions.get('s portal_1'), undefined)
      assert.notEqual(await store.portalSessions.get('s portal_2'), undefined)
      assert.equal(await end({ account_id: ACCOUNT }), 2)
      assert.equal(await store.portalSessions.get('s portal_2'), undefined)
      assert.equal(await opening('portal_3'), undefined)
      assert.notEqual(await opening('portal_4'), undefined)
    },
  },
  {
    name: 'portalSessions: what has ended is purged, link or session',
    async run({ open }) {
      const store = await open()
      await store.write(async (tx) => {
        await tx.portalSessions.insert(sampleLink())
        await tx.portalSessions.insert(sampleLink({ id: 'portal_2', hash: 'unused' }))
        await tx.portalSessions.open('hash of the link', session, BORN)
      })
      assert.equal(await store.purge('portal_sessions', BORN + 100, 9), 0)
      assert.equal(await store.purge('portal_sessions', BORN + 101, 9), 1)
      assert.notEqual(await store.portalSessions.get(session.hash), undefined)
      assert.equal(await store.purge('portal_sessions', BORN + 1001, 9), 1)
      assert.equal(await store.portalSessions.get(session.hash), undefined)
    },
  },
]

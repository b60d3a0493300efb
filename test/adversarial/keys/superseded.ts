import type { Test } from 'tap'
import { purgeExpired } from '../../../daemon/worker/retention.ts'
import { DAY } from '../../../lib/time.ts'
import { sampleKey, sampleSecret } from '../../../plugins/store/conformance/samples.ts'
import type { Checks } from '../run.ts'
import type { Cost, Explained } from './plans.ts'
import { openExplained } from './plans.ts'
import { openWorld } from './world.ts'

const NOW = 1_800_000_000_000
const RETENTION = { events: 30 * DAY, audit: 365 * DAY, access: 7 * DAY }

/** Values of a key that a day of rotations in a loop leaves, or more. */
const ENDED = 20_000

/** Steps that read secrets, under their own name or as `s` and `n`, and those that read few of them. */
const OF_SECRETS = /^(SCAN|SEARCH) (key_secrets|s|n)\b/
const FEW =
  /\((hash=\?|key_id=\? AND version=\?)\)|INDEX key_secrets_open \(key_id=\?|key_secrets_by_age \(created_at<\?\)/

/** A key of an account of its own, with so many values that ended at once. */
async function insertRotated(
  { client, store }: Explained,
  id: string,
  ended: number,
): Promise<void> {
  const version = ended + 1
  const secrets = [sampleSecret(`${id} ${version}`, { version, created_at: NOW })]
  await store.write((tx) =>
    tx.keys.insert(sampleKey(id, { account_id: `of ${id}`, version, secrets })),
  )
  await client.transaction((query) =>
    query(
      `WITH RECURSIVE versions (version) AS (
         SELECT 1 UNION ALL SELECT version + 1 FROM versions WHERE version < $2
       )
       INSERT INTO key_secrets (hash, key_id, version, display, created_at, not_after)
       SELECT $1 || ' ' || version, $1, version, 'ended', $3, 0 FROM versions`,
      [id, ended, NOW],
    ),
  )
}

/** What each operation on such a key reads and writes. */
async function costsOf(
  { store, costOf }: Explained,
  id: string,
  ended: number,
): Promise<readonly Cost[]> {
  const account_id = `of ${id}`
  const query = { account_id, limit: 20, after: null, within: null }
  const rotate = (version: number, previous_not_after: number) => () =>
    store.write(({ keys }) => {
      const secret = sampleSecret(`${id} ${version}`, { version, created_at: NOW })
      return keys.rotate({ id, secret, previous_not_after, now: NOW })
    })
  const costs: Cost[] = []
  for (const work of [
    () => store.keys.findChain(`${id} ${ended + 1}`),
    () => store.keys.findChain(`${id} 1`),
    () => store.keys.get(account_id, id),
    () => store.keys.chain(account_id, id),
    () => store.keys.list({ ...query, live_at: NOW }),
    () => store.keys.list({ ...query, live_at: null }),
    rotate(ended + 2, 0),
    rotate(ended + 3, NOW + DAY),
    () => store.write((tx) => tx.keys.endPrevious(id, NOW)),
  ]) {
    costs.push(await costOf(work))
  }
  return costs
}

/** The steps so far that may read many secrets of a key; there must be none. */
async function manyRead(t: Test, { plans }: Explained): Promise<readonly string[]> {
  const steps = (await plans(/\bkey_secrets\b/)).filter((step) => OF_SECRETS.test(step))
  t.ok(steps.length >= 2, 'there are plans')
  const many = steps.filter((step) => !FEW.test(step))
  t.same(many, [])
  return many
}

export const SUPERSEDED_CHECKS: Checks = {
  async K57(t, saw) {
    await t.test('what is read and written', async (t) => {
      const explained = await openExplained(t)
      await insertRotated(explained, 'key_1', 1)
      await insertRotated(explained, 'key_2', ENDED)
      const few = await costsOf(explained, 'key_1', 1)
      t.same(await costsOf(explained, 'key_2', ENDED), few)
      const many = await manyRead(t, explained)
      saw(many.length === 0 ? 'no ended values' : 'all ended values')
    })

    const world = await openWorld(t, saw)
    const { id, key } = await world.make({ scopes: ['apps:read', 'keys:*'] })
    const values = [key]
    for (let turn = 0; turn < 3; turn += 1) {
      values.push((await world.rotate(id, world.user, { grace_seconds: 0 })).body.key)
    }
    const [current = '', ...ended] = values.toReversed()
    for (const value of ended) t.equal(await world.standing(value), '401 key_rotated')
    t.equal(await world.standing(current), '200')
  },

  async K58(t, saw) {
    const world = await openWorld(t, saw)
    const { store, clock } = world.platform
    const { id, key: first } = await world.make({ scopes: ['apps:read', 'keys:*'] })
    const rotate = async () => (await world.rotate(id, world.user, { grace_seconds: 0 })).body.key
    const second = await rotate()
    const third = await rotate()
    await world.clock.advance(DAY)
    const current = await rotate()
    const purge = async () => (await purgeExpired(store, RETENTION, clock.now())).key_secrets ?? 0
    await world.clock.advance(29 * DAY)
    t.equal(await purge(), 0, 'as old as that, and no older')
    t.equal(await world.standing(first), '401 key_rotated')
    await world.clock.advance(1)
    t.equal(await purge(), 2)
    t.equal(await purge(), 0)
    t.equal(await world.standing(second), '401 invalid_key')
    t.equal(await world.standing(third), '401 key_rotated')
    t.equal(await world.standing(current), '200')

    await t.test('what the purge reads', async (t) => {
      const explained = await openExplained(t)
      await explained.store.purge('key_secrets', NOW, 500)
      const many = await manyRead(t, explained)
      saw(many.length === 0 ? 'no younger values' : 'all values')
    })
  },
}

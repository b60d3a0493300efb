import { HOUR } from '../../../lib/time.ts'
import { sampleWebhook } from '../../../plugins/store/conformance/samples.ts'
import { codeOf } from '../../support/answer.ts'
import { createClock } from '../../support/clock.ts'
import { register, shopWorld } from '../../support/webhooks.ts'
import type { AnyBody } from '../../support/world.ts'
import type { Cost, Explained } from '../keys/plans.ts'
import { openExplained } from '../keys/plans.ts'
import type { Checks } from '../run.ts'

const NOW = 1_800_000_000_000
const ROTATIONS = 2400
const OWNER = { type: 'user', id: 'usr_1' } as const

/** Rotates a webhook of an account of its own so often at once; answers what each use of it costs then. */
async function costsAfter(
  { store, costOf }: Explained,
  rotations: number,
): Promise<readonly Cost[]> {
  const [id, account_id] = [`wh_${rotations}`, `of ${rotations}`]
  const secretOf = (turn: number) => ({
    id: `${id} ${String(turn).padStart(8, '0')}`,
    encrypted: 'v1.k1.sealed',
    display: 'whsec_x…',
    created_at: NOW,
    not_after: null,
  })
  const rotate = (turn: number) =>
    store.write((tx) => tx.webhooks.rotateSecret(id, secretOf(turn), NOW, OWNER, NOW))
  await store.write((tx) =>
    tx.webhooks.insert(sampleWebhook(id, { account_id, secrets: [secretOf(0)] })),
  )
  for (let turn = 1; turn <= rotations; turn += 1) await rotate(turn)
  const query = { account_id, status: null, within: null, limit: 20, after: null }
  const costs: Cost[] = []
  for (const work of [
    () => store.webhooks.get(account_id, id),
    () => store.webhooks.list(query),
    () => store.webhooksOf(account_id),
    () => rotate(rotations + 1),
  ]) {
    costs.push(await costOf(work))
  }
  return costs
}

export const SECRET_CHECKS: Checks = {
  async F53(t, saw) {
    await t.test('what is read and written', async (t) => {
      const explained = await openExplained(t)
      const few = await costsAfter(explained, 1)
      const many = await costsAfter(explained, ROTATIONS)
      t.same(many, few)
      saw(JSON.stringify(many) === JSON.stringify(few) ? 'no more rows' : 'more rows')
    })

    const clock = createClock(NOW)
    const world = await shopWorld(t, { clock })
    const { id } = await register(world, { url: 'http://127.0.0.1:9/in' })
    const rotate = (overlap_seconds: number) =>
      world.request<AnyBody>('POST', `/v1/webhooks/${id}/rotate-secret`, {
        body: { overlap_seconds },
      })
    const seeKept = async () => {
      const counts = await world.platform.store.encryptedSecrets.count(clock.now())
      const kept = counts.find(({ kind }) => kind === 'webhook_secret')?.count
      saw(`${kept} kept`)
      return kept
    }
    for (let turn = 0; turn < 20; turn += 1) saw(codeOf(await rotate(0)))
    t.equal(await seeKept(), 1)
    for (let turn = 0; turn < 4; turn += 1) saw(codeOf(await rotate(3600)))
    const sixth = await rotate(3600)
    saw(codeOf(sixth))
    t.match(sixth.body, { error: { message: /overlap_seconds 0/ } })
    t.equal(await seeKept(), 5)
    await clock.advance(HOUR)
    saw(codeOf(await rotate(3600)))
    t.equal(await seeKept(), 2)
  },
}

import type { SeededRandom } from '../../support/seeded-random.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import type { DriverOrders, Webhook } from '../facts.ts'
import { TIMEOUT } from '../facts.ts'
import type { Json } from '../wire.ts'
import type { Office } from './office.ts'

/** How long a webhook stays disabled: longer than what was under way may still arrive. */
const DISABLED_FOR = TIMEOUT + 900

type Work = (office: Office, random: SeededRandom) => Promise<void>

/** Changes webhooks and keys, each chain of changes in a loop of its own. */
export function administer(office: Office, orders: DriverOrders): readonly Promise<never>[] {
  const { webhooks, receiver, key, seed } = orders
  const named = (word: string): readonly Webhook[] =>
    webhooks.filter(({ path }) => path.includes(word))
  const work: readonly Work[] = [
    ...named('toggled').map((webhook) => toggle(webhook)),
    ...named('rotated').map((webhook) => rotate(webhook)),
    changeWebhooks(receiver),
    changeKeys(key),
  ]
  return work.map((one, index) =>
    repeat(office, one, createSeededRandom(`${seed} administrator ${index}`)),
  )
}

async function repeat(office: Office, work: Work, random: SeededRandom): Promise<never> {
  for (;;) await work(office, random)
}

const shown = (field: string) => (body: Json) => ({
  id: String(body['id']),
  shown: (body[field] ?? null) as string | null,
})

/** Disabled long enough to see that nothing arrives, then enabled again. */
function toggle({ id }: Webhook): Work {
  return async (office, random) => {
    await office.rest(200 + random.below(600))
    await disable(office, id)
    await office.rest(DISABLED_FOR + random.below(500))
    await enable(office, id)
  }
}

function rotate({ id }: Webhook): Work {
  return async (office, random) => {
    await office.rest(300 + random.below(1200))
    await rotateSecret(office, id, random.oneIn(3) ? 2 : 0)
  }
}

/** A webhook's whole life, quickly, so that each of its changes is often under way. */
function changeWebhooks(receiver: string): Work {
  return async (office, random) => {
    const path = `/${random.pick(['failing', 'flaky', 'slow'])}/temporary-${office.next()}`
    const types = ['crash.a', 'crash.b']
    const { end } = await office.run(
      { kind: 'webhook.create', path, types },
      {
        method: 'POST',
        path: '/v1/webhooks',
        body: { url: `${receiver}${path}`, events: types },
        headers: { 'idempotency-key': `k${office.next()}` },
        note: shown('secret'),
      },
    )
    const id = end.id ?? ''
    await office.rest(random.below(150))
    await rotateSecret(office, id, 0)
    await disable(office, id)
    await enable(office, id)
    await office.rest(random.below(100))
    await office.run(
      { kind: 'webhook.delete', id },
      { method: 'DELETE', path: `/v1/webhooks/${id}`, doneWhen: 404 },
    )
  }
}

async function disable(office: Office, id: string): Promise<void> {
  const body = { status: 'disabled' }
  await office.run(
    { kind: 'webhook.disable', id },
    { method: 'PATCH', path: `/v1/webhooks/${id}`, body },
  )
}

async function enable(office: Office, id: string): Promise<void> {
  const body = { status: 'active' }
  await office.run(
    { kind: 'webhook.enable', id },
    { method: 'PATCH', path: `/v1/webhooks/${id}`, body },
  )
}

/** Again at once when the new secret was lost with an answer: somebody must know it. */
async function rotateSecret(office: Office, id: string, overlap: number): Promise<void> {
  const { end } = await office.run(
    { kind: 'secret.rotate', id, overlap },
    {
      method: 'POST',
      path: `/v1/webhooks/${id}/rotate-secret`,
      body: { overlap_seconds: overlap },
      headers: { 'idempotency-key': `k${office.next()}` },
      note: shown('secret'),
    },
  )
  if (end.shown === null) await rotateSecret(office, id, 0)
}

/** A key, its child, a rotation without grace, and the end of both with the parent. */
function changeKeys(root: string): Work {
  return async (office, random) => {
    await office.rest(random.below(60))
    const first = await createKey(office, root, null)
    if (first.shown === null) return revoke(office, first.id, [])
    await probe(office, first.shown, 'live')
    const child = await createKey(office, first.shown, first.id)
    const second = await rotateKey(office, first.id, [first.shown])
    await probe(office, first.shown, 'dead')
    if (second !== null) await probe(office, second, 'live')
    const values = [first.shown, second, child.shown].filter((value) => value !== null)
    await revoke(office, first.id, values)
    for (const value of values) await probe(office, value, 'dead')
  }
}

interface MadeKey {
  readonly id: string
  readonly shown: string | null
}

async function createKey(office: Office, by: string, parent: string | null): Promise<MadeKey> {
  const name = `crash ${office.next()}`
  const { end } = await office.run(
    { kind: 'key.create', name, parent },
    {
      method: 'POST',
      path: '/v1/keys',
      key: by,
      body: { name, scopes: ['keys:*', 'events:*'] },
      headers: { 'idempotency-key': `k${office.next()}` },
      note: shown('key'),
    },
  )
  return { id: end.id ?? '', shown: end.shown ?? null }
}

async function rotateKey(
  office: Office,
  id: string,
  old: readonly string[],
): Promise<string | null> {
  const { end } = await office.run(
    { kind: 'key.rotate', id, old },
    {
      method: 'POST',
      path: `/v1/keys/${id}/rotate`,
      body: { grace_seconds: 0 },
      headers: { 'idempotency-key': `k${office.next()}` },
      note: shown('key'),
    },
  )
  return end.shown ?? null
}

async function revoke(office: Office, id: string, values: readonly string[]): Promise<void> {
  await office.run({ kind: 'key.revoke', id, values }, { method: 'DELETE', path: `/v1/keys/${id}` })
}

async function probe(office: Office, value: string, expect: 'live' | 'dead'): Promise<void> {
  await office.run(
    { kind: 'probe', value, expect },
    { method: 'GET', path: '/v1/keys/self', key: value },
  )
}

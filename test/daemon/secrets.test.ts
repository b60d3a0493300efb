import t from 'tap'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { DAY, HOUR, toIso } from '../../lib/time.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import { codeOf } from '../support/answer.ts'
import type { VirtualClock } from '../support/clock.ts'
import { createClock } from '../support/clock.ts'
import type { ReceivedRequest, Receiver } from '../support/receiver.ts'
import type { Page, Webhook } from '../support/webhooks.ts'
import {
  deliveryOf,
  hasStatus,
  headersOf,
  publish,
  receiverFor,
  register,
  shopWorld,
} from '../support/webhooks.ts'
import type { Answer, AnyBody, Asking, World } from '../support/world.ts'

const START = Date.UTC(2026, 0, 31)

interface Bench {
  readonly world: World
  readonly clock: VirtualClock
  readonly receiver: Receiver & { readonly url: string }
  readonly webhook: Webhook
  rotate(overlap?: number, asking?: Asking): Promise<Answer<Webhook>>
  /** Which of the secrets verify a delivery that is made now. */
  verifying(...secrets: readonly string[]): Promise<readonly boolean[]>
}

type Scope = Parameters<typeof shopWorld>[0]

async function open(t: Scope, settings: AnyBody = {}): Promise<Bench> {
  const clock = createClock(START)
  const world = await shopWorld(t, { clock, families: [auditFamily] })
  const receiver = await receiverFor(t)
  const webhook = await register(world, { url: receiver.url, ...settings })
  return {
    world,
    clock,
    receiver,
    webhook,
    rotate(overlap, asking) {
      const body = overlap === undefined ? {} : { body: { overlap_seconds: overlap } }
      const path = `/v1/webhooks/${webhook.id}/rotate-secret`
      return world.request('POST', path, { ...body, ...asking })
    },
    async verifying(...secrets) {
      const eventId = await publish(world)
      await deliveryOf(world, webhook, eventId, hasStatus('succeeded'))
      const sent = receiver.requests.at(-1)
      if (sent === undefined) throw new Error('nothing was sent')
      const headers = headersOf(sent)
      return Promise.all(secrets.map((secret) => verifies(sent, headers, secret, clock.now())))
    },
  }
}

type Headers = Readonly<Record<string, string>>

function verifies(
  { body }: ReceivedRequest,
  headers: Headers,
  secret: string,
  now: number,
): Promise<boolean> {
  return verifyWebhook(body, headers, secret, { now }).then(
    () => true,
    () => false,
  )
}

await t.test('both secrets sign for a day, and after it the new one alone', async (t) => {
  const { webhook, clock, rotate, verifying } = await open(t)
  const rotated = await rotate()
  t.match(rotated, {
    status: 201,
    body: {
      id: webhook.id,
      secret: /^whsec_/,
      previous_secret_valid_until: toIso(START + DAY),
    },
  })
  const secrets = [webhook.secret, rotated.body.secret]
  t.not(rotated.body.secret, webhook.secret)
  t.match(rotated.body.secret, String(rotated.body['secret_prefix']).slice(0, -1))
  t.same(await verifying(...secrets), [true, true])
  await clock.advance(DAY - 1)
  t.same(await verifying(...secrets), [true, true])
  await clock.advance(1)
  t.same(await verifying(...secrets), [false, true])
})

await t.test('an overlap of 0 ends every older secret at once', async (t) => {
  const { webhook, rotate, verifying, world } = await open(t)
  const second = await rotate(HOUR / 1000)
  const third = await rotate(0)
  const secrets = [webhook.secret, second.body.secret, third.body.secret]
  t.same(await verifying(...secrets), [false, false, true])
  const { body } = await world.request('GET', `/v1/webhooks/${webhook.id}`)
  t.equal(body['previous_secret_valid_until'], null)
  t.notOk('secret' in body)
})

await t.test('a rotation never lengthens the life of an older secret', async (t) => {
  const { webhook, clock, rotate, verifying } = await open(t)
  const second = await rotate(60)
  const third = await rotate(3600)
  const secrets = [webhook.secret, second.body.secret, third.body.secret]
  await clock.advance(60_000)
  t.same(await verifying(...secrets), [false, true, true])
})

await t.test('five secrets sign at most, and those that ended do not count', async (t) => {
  const { webhook, clock, rotate, verifying, receiver } = await open(t)
  const secrets = [webhook.secret]
  for (let made = 0; made < 4; made += 1) secrets.push((await rotate(3600)).body.secret)
  t.same(await verifying(...secrets), Array(5).fill(true))
  const signature = headersOf(receiver.requests[0] ?? { head: '', body: '', connection: 0 })
  t.equal(signature['Service-Signature']?.match(/v1=/g)?.length, 5)
  const refused = await rotate(3600)
  t.equal(codeOf(refused), '409 secret_limit_reached')
  t.same(await verifying(...secrets), Array(5).fill(true), 'a refusal changes nothing')
  await clock.advance(HOUR)
  t.equal((await rotate(3600)).status, 201)
  const last = (await rotate(0)).body.secret
  t.same(await verifying(...secrets, last), [...Array<boolean>(5).fill(false), true])
})

await t.test('the headers of Standard Webhooks bear every live secret too', async (t) => {
  const { webhook, clock, rotate, verifying, receiver } = await open(t, { standard_headers: true })
  const secrets = [webhook.secret, (await rotate(3600)).body.secret]
  t.same(await verifying(...secrets), [true, true])
  const [sent] = receiver.requests
  if (sent === undefined) throw new Error('nothing was sent')
  const { 'Service-Signature': _, ...standard } = headersOf(sent)
  t.match(standard['webhook-signature'], /^v1,\S+ v1,\S+$/)
  for (const secret of secrets) t.ok(await verifies(sent, standard, secret, clock.now()))
})

await t.test('under one Idempotency-Key it rotates once, and shows the secret once', async (t) => {
  const { rotate, verifying } = await open(t)
  const asking = { headers: { 'idempotency-key': 'once' } }
  const first = await rotate(0, asking)
  const replay = await rotate(0, asking)
  t.same(replay.body, { ...first.body, secret: null })
  t.equal(replay.headers.get('idempotency-replayed'), 'true')
  t.same(await verifying(first.body.secret), [true])
  t.equal(codeOf(await rotate(60, asking)), '422 idempotency_mismatch')
})

await t.test('an overlap is 0 to 604800 whole seconds', async (t) => {
  const { rotate } = await open(t)
  for (const body of [
    { overlap_seconds: -1 },
    { overlap_seconds: 604_801 },
    { overlap_seconds: 1.5 },
    { overlap_seconds: null },
    { overlap_seconds: '60' },
    { grace_seconds: 60 },
    [],
  ]) {
    t.equal(codeOf(await rotate(undefined, { body })), '400 invalid_request', JSON.stringify(body))
  }
  t.match((await rotate(604_800)).body, { previous_secret_valid_until: toIso(START + 7 * DAY) })
})

await t.test('who may rotate: whoever sees the webhook and holds webhooks:write', async (t) => {
  const { world, webhook, rotate, receiver } = await open(t)
  const pinned = await register(world, { url: receiver.url, apps: ['a1'] })
  const path = `/v1/webhooks/${pinned.id}/rotate-secret`
  const key = (await world.mintKey({ scopes: ['webhooks:*'], apps: ['a1'] })).key
  const reader = (await world.mintKey({ scopes: ['webhooks:read'] })).key
  const stranger = world.userOf(await world.addAccount())
  t.equal((await world.request('POST', path, { as: key })).status, 201)
  t.equal(codeOf(await rotate(0, { as: key })), '404 webhook_not_found', 'beyond its pins')
  t.equal(codeOf(await rotate(0, { as: stranger })), '404 webhook_not_found')
  t.equal(codeOf(await rotate(0, { as: reader })), '403 insufficient_scope')
  const query = `?action=webhook.secret_rotated`
  const { body } = await world.request<Page<AnyBody>>('GET', `/v1/audit-log${query}`)
  t.match(body.data, [{ actor: { type: 'key' }, target: { type: 'webhook', id: pinned.id } }])
  t.equal(body.data.length, 1, `nothing was done to ${webhook.id}`)
})

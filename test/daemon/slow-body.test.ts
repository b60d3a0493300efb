import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

/** Sends a request whose last byte waits until `meanwhile` is done; answers its whole answer. */
async function withholding(
  { baseUrl }: World,
  path: string,
  key: string,
  body: string,
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\nconnection: close\r\n` +
      `content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
  )
  // Answered once the server has taken in what came before on another connection.
  await fetch(`${baseUrl}/v1/keys`)
  await meanwhile()
  socket.write(body.slice(-1))
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  await once(socket, 'close')
  return answer
}

const REQUESTS: readonly [path: string, body: string][] = [
  ['/v1/events', '{"type":"order.paid","data":{}}'],
  ['/v1/webhooks', '{"url":"http://127.0.0.1:9/in","events":["order.paid"]}'],
  ['/v1/keys', '{"name":"after","scopes":["events:write"]}'],
]

for (const [path, body] of REQUESTS) {
  await t.test(`a key revoked while its body comes in does nothing at ${path}`, async (t) => {
    const world = await createWorld(t, { families: [webhooksFamily, eventsFamily] })
    const { request, mintKey } = world
    await request('PUT', '/v1/event-types/order.paid')
    const { id, key } = await mintKey({ scopes: ['*:*'] })
    const answer = await withholding(world, path, key, body, () =>
      request('DELETE', `/v1/keys/${id}`),
    )
    t.match(answer, /^HTTP\/1\.1 401/)
    t.match(answer, '"code":"key_revoked"')
    t.match(await request('GET', path), { body: { data: [] } })
  })
}

for (const [path, body] of REQUESTS) {
  await t.test(`nor at ${path} when its account is suspended meanwhile`, async (t) => {
    const world = await createWorld(t, {
      families: [webhooksFamily, eventsFamily, createAccountsFamily()],
    })
    const { request, mintKey, account, operatorFor } = world
    await request('PUT', '/v1/event-types/order.paid')
    const { key } = await mintKey({ scopes: ['*:*'] })
    const answer = await withholding(world, path, key, body, () =>
      request('POST', `/v1/accounts/${account.id}/suspend`, { as: operatorFor(null) }),
    )
    t.match(answer, /^HTTP\/1\.1 403/)
    t.match(answer, '"code":"account_suspended"')
    const made = await request<{ data: { name?: string }[] }>('GET', path, { as: world.operator })
    t.same(
      made.body.data.filter(({ name }) => name !== 'a key'),
      [],
    )
  })
}

import type { Checks } from '../run.ts'
import { bodiesOf } from './shapes.ts'
import { OPERATIONS, many, openInputWorld, operationOf } from './world.ts'

const MOST_ERRORS = 50
const MOST_BYTES = 65_536

const createKey = operationOf('keys.create')
const publish = operationOf('events.publish')
const signIn = operationOf('accounts.sign_in')

interface Refused {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly errors: readonly unknown[]
    readonly more_errors?: true
  }
}

export const ERROR_CHECKS: Checks = {
  async E01(t, saw) {
    const { send } = await openInputWorld(t, saw)
    const unknown = `{"name":"a","scopes":["apps:read"],${many(1000, (at) => `"x${at}":1`)}}`
    const items = `{"name":"a","scopes":[${many(64, (at) => String(at))}]}`
    const files = `{"prompt":"p","files":[${many(500, (at) => String(at))}]}`
    for (const [operation, text] of [
      [createKey, unknown],
      [createKey, items],
      [operationOf('apps.create'), files],
    ] as const) {
      const answer = await send(operation, operation.path, { text })
      t.equal(answer.locations.length, MOST_ERRORS)
      t.equal(answer.details['more_errors'], true)
      t.ok(answer.size <= MOST_BYTES, `${answer.size} bytes`)
    }
    const few = await send(createKey, createKey.path, { text: '{"name":"a","x":1,"y":1}' })
    t.same(few.locations, ['body.scopes', 'body.x', 'body.y'])
    t.notOk('more_errors' in few.details)
  },
  async E02(t, saw) {
    const { send } = await openInputWorld(t, saw)
    const long = 'x'.repeat(200)
    for (const [name, count] of [
      ['', 1400],
      [long, 50],
      ['\u0001'.repeat(40), 50],
    ] as const) {
      const fields = many(count, (at) => `${JSON.stringify(`${name}x${at}`)}:1`)
      const text = `{"events":[${many(500, () => `{${fields}}`)}]}`
      const { body, size } = await send(publish, publish.path, { text })
      const results = (body['data'] ?? []) as readonly Refused[]
      t.equal(results.length, 500)
      t.ok(results.every(({ error }) => error.code === 'invalid_request'))
      t.ok(results.every(({ error }) => error.more_errors === true))
      const listed = results.flatMap(({ error }) => error.errors).length
      t.ok(name === '' ? listed === MOST_ERRORS : listed > 5, `${listed} errors`)
      t.ok(size <= MOST_BYTES, `${size} bytes for ${text.length}`)
    }
    const types = many(500, (at) => `{"type":"${'a'.repeat(90)}.t${at}","data":{}}`)
    const { body, size } = await send(publish, publish.path, { text: `{"events":[${types}]}` })
    const results = (body['data'] ?? []) as readonly Refused[]
    t.ok(results.every(({ error }) => error.code === 'undeclared_event_type'))
    t.match(results[0]?.error.message, 'is not declared')
    t.ok(size <= MOST_BYTES, `${size} bytes`)
  },
  async E03(t, saw) {
    const { send } = await openInputWorld(t, saw)
    const text = `{${many(700_000, (at) => `"x${at}":1`)}}`
    const answer = await send(publish, publish.path, { text })
    t.match(answer.details, { reason: 'json_too_complex' })
    const small = `{${many(60_000, (at) => `"x${at % 9000}":1`)}}`
    t.equal((await send(publish, publish.path, { text: small })).locations.length, MOST_ERRORS)
  },
  async E04(t, saw) {
    const { send } = await openInputWorld(t, saw)
    const text = `{${many(880, (at) => `"${at}":1`)}}`
    t.ok(text.length < 7000)
    const answer = await send(signIn, signIn.path, { text })
    t.ok(answer.size < text.length, `${answer.size} bytes for ${text.length}`)
    t.ok(answer.locations.length <= MOST_ERRORS)
  },
  async E05(t, saw) {
    const { send } = await openInputWorld(t, saw)
    let sent = 0
    let largest = 0
    for (const operation of OPERATIONS) {
      if (operation.input.body === undefined || operation.effect === 'stream') continue
      const path = operation.path.replaceAll(/\{\w+\}/g, 'none')
      for (const [what, text] of bodiesOf(operation)) {
        const { status, size, locations } = await send(operation, path, { text })
        sent += 1
        const shown = `${operation.id}, ${what}: ${status}`
        if (status < 400) continue
        largest = Math.max(largest, size)
        if (size > MOST_BYTES || locations.length > MOST_ERRORS) t.fail(shown)
      }
    }
    t.comment(`${sent} bodies, the largest error ${largest} bytes`)
    t.ok(sent > 300)
  },
  async E06(t, saw) {
    const { send } = await openInputWorld(t, saw)
    const names = many(900, (at) => `"${`\\u0001${at}`.repeat(20)}":1`)
    const query = `?${'\u0001'.repeat(40)}`
    const answers = [
      await send(createKey, createKey.path, { text: `{${names}}` }),
      await send(createKey, `${createKey.path}${encodeURI(query)}=1`, { text: '{}' }),
      await send(createKey, createKey.path, {
        text: JSON.stringify({ name: 'a', scopes: Array(64).fill('\u0001'.repeat(80)) }),
      }),
    ]
    for (const { status, size } of answers) {
      t.equal(status, 400)
      t.ok(size <= MOST_BYTES, `${size} bytes`)
    }
  },
  async E21(t, saw) {
    const { send, request } = await openInputWorld(t, saw)
    await request('PUT', '/v1/event-types/order.paid')
    const create = operationOf('webhooks.create')
    const events = `{"events":[${many(500, (at) => `{"type":"order.pai${at % 100}","data":{}}`)}]}`
    const types = many(100, (at) => `"order.pai${at}"`)
    const webhook = `{"url":"https://a.example/","events":[${types}]}`
    for (const { body } of [
      await send(publish, publish.path, { text: events }),
      await send(create, create.path, { text: webhook }),
    ]) {
      const found = JSON.stringify(body).split('Did you mean').length - 1
      saw(`${found} suggestions`)
    }
  },
}

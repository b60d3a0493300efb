import { createKeyhook } from '../../../daemon/embed/index.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { MULTIPART, bodyOf } from '../../support/multipart.ts'
import type { Checks } from '../run.ts'
import { OPERATIONS, openInputWorld, operationOf } from './world.ts'

const publish = operationOf('events.publish')
const event = (data: string): string => `{"type":"order.paid","data":${data}}`

export const UNICODE_CHECKS: Checks = {
  async E07(t, saw) {
    const { send } = await openInputWorld(t, saw)
    const refused: readonly (readonly [string, string])[] = [
      [event('{"lone":"\\ud83d"}'), 'body.data.lone'],
      [event('{"a":["x",{"b":"\\uDE00\\uD83D"}]}'), 'body.data.a[1].b'],
      [event('{"\\udfff":1}'), 'body.data["\\udfff"]'],
      [event('{"a":"\\ud83d","a":1}'), 'body.data.a'],
      [event('{"a":"\\u0000"}'), 'body.data.a'],
      [`{"events":[${event('{}')},${event('{"a":"\\ud800"}')}]}`, 'body.events[1].data.a'],
    ]
    for (const [text, location] of refused) {
      const answer = await send(publish, publish.path, { text })
      t.match(answer, { status: 400, code: 'invalid_json', locations: [location] }, text)
    }
    const bytes = Buffer.concat([Buffer.from('{"type":"'), Buffer.of(0xed, 0xa0, 0xbd)])
    t.match(await send(publish, publish.path, { text: bytes }), { code: 'invalid_json' })
    const allowed = event('{"pair":"\\ud83d\\ude00","noncharacter":"\\uffff"}')
    const answer = await send(publish, publish.path, { text: allowed })
    t.equal(answer.code, 'undeclared_event_type', 'its text is not what stands against it')
  },
  async E08(t, saw) {
    const { send } = await openInputWorld(t, saw)
    let asked = 0
    for (const operation of OPERATIONS) {
      if (operation.input.body === undefined) continue
      const path = operation.path.replaceAll(/\{\w+\}/g, 'none')
      const answer = await send(operation, path, { text: '{"a":{"b":"\\ud83d"}}' })
      t.match(answer, { code: 'invalid_json', locations: ['body.a.b'] }, operation.id)
      asked += 1
    }
    t.ok(asked > 35, `${asked} operations`)
  },
  async E09(t, saw) {
    const keyhook = await createKeyhook({
      dataDir: t.testdir(),
      brand: 'shop',
      eventTypes: ['order.paid'],
      dispatch: false,
    })
    t.teardown(() => keyhook.stop())
    const publishing = async (data: object): Promise<string> => {
      try {
        await keyhook.webhooks.publish({ account_id: 'a1', type: 'order.paid', data })
        return 'published'
      } catch (cause) {
        if (!(cause instanceof KeyhookError)) throw cause
        return `${cause.status} ${cause.code} ${String(cause.errors[0]?.location)}`
      }
    }
    for (const [data, location] of [
      [{ lone: '\ud83d' }, 'data.lone'],
      [{ list: [{ '\udfff': 1 }] }, 'data.list[0]["\\udfff"]'],
      [{ nul: 'a\0' }, 'data.nul'],
    ] as const) {
      const outcome = await publishing(data)
      t.equal(outcome, `400 invalid_json ${location}`)
      saw(outcome.split(' ', 2).join(' '))
    }
    t.equal(await publishing({ pair: '😀' }), 'published')
  },
  async E10(t, saw) {
    const { send } = await openInputWorld(t, saw)
    const get = operationOf('keys.get')
    const list = operationOf('events.list')
    const refused = [
      [get, '/v1/keys/%ff', 'path.key_id'],
      [get, '/v1/keys/a%ed%a0%bd', 'path.key_id'],
      [list, '/v1/events?type=a%c3', 'query.type'],
      [list, '/v1/events?limit=5&%ff=1', 'query.\ufffd'],
    ] as const
    for (const [operation, path, location] of refused) {
      const answer = await send(operation, path)
      t.match(answer, { status: 400, code: 'invalid_request', locations: [location] }, path)
    }
    t.equal((await send(get, '/v1/keys/caf%C3%A9%')).code, 'key_not_found')
  },
  async E11(t, saw) {
    const { send, request } = await openInputWorld(t, saw)
    const made = await request('POST', '/v1/apps', { body: { template_id: 'blank' } })
    const path = `/v1/apps/${String(made.body['id'])}/files`
    const upload = operationOf('files.upload')
    const header = (name: string, filename: string): Buffer =>
      Buffer.from(
        `Content-Disposition: form-data; name="${name}"; filename="${filename}"`,
        'latin1',
      )
    for (const [name, filename] of [
      ['file', 'a\xff.md'],
      ['fi\xffle', 'a.md'],
    ] as const) {
      const [before = '', after = ''] = bodyOf([{ header: 'HEADER', content: 'x' }])
        .toString()
        .split('HEADER')
      const text = Buffer.concat([Buffer.from(before), header(name, filename), Buffer.from(after)])
      const answer = await send(upload, path, { text, headers: MULTIPART })
      t.match(answer, { status: 400, code: 'invalid_multipart' }, `${name} ${filename}`)
    }
    const prompt = bodyOf([{ name: 'prompt', content: Buffer.from('a\xff', 'latin1') }])
    const create = operationOf('apps.create')
    const answer = await send(create, create.path, { text: prompt, headers: MULTIPART })
    t.match(answer, { code: 'invalid_multipart', locations: ['body.prompt'] })
  },
}

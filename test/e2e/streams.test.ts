import { randomBytes } from 'node:crypto'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { Env } from '../support/daemon.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { startFakeModel, FAKE_MODEL } from '../support/fake-model.ts'
import { startPostgres } from '../support/postgres.ts'
import { openStream } from '../support/stream.ts'

const OPERATOR = 'operator-token-of-the-streams-test'

t.setTimeout(3 * MINUTE)

await t.test('a stream at one daemon ends when its key is revoked at another', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const model = await startFakeModel()
  t.teardown(() => model.close())
  // The edit goes on for as long as the model says nothing.
  model.queue({ text: 'Let me see.', ends: 'quiet' })
  const shared: Env = {
    KEYHOOK_DATABASE_URL: await server.createDatabase(),
    KEYHOOK_MASTER_KEY: `k1:${randomBytes(32).toString('base64')}`,
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    KEYHOOK_LLM_BASE_URL: model.url,
    KEYHOOK_LLM_MODEL: FAKE_MODEL,
  }
  const folder = t.testdir({ a: {}, b: {} })
  const a = await startDaemonProcess({ ...shared, KEYHOOK_DATA_DIR: `${folder}/a` })
  t.teardown(() => a.end('SIGKILL').then(() => undefined))
  const b = await startDaemonProcess({ ...shared, KEYHOOK_DATA_DIR: `${folder}/b` })
  t.teardown(() => b.end('SIGKILL').then(() => undefined))

  async function ask(method: string, path: string, token: string, body?: object) {
    const response = await fetch(a.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(token === OPERATOR && path !== '/v1/accounts' ? { 'keyhook-account': account } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  let account = ''
  account = (await ask('POST', '/v1/accounts', OPERATOR, { name: 'Streams' })).body['id'] ?? ''
  const { body: minted } = await ask('POST', '/v1/keys', OPERATOR, {
    name: 'follower',
    scopes: ['apps:*', 'edits:*'],
  })
  const { id = '', key = '' } = minted
  const app = (await ask('POST', '/v1/apps', key, { template_id: 'blank' })).body['id'] ?? ''
  const edit = await ask('POST', `/v1/apps/${app}/edits`, key, { prompt: 'Make it blue' })
  t.equal(edit.status, 202)

  const stream = await openStream(`${b.url}/v1/apps/${app}/edits/${edit.body['id']}/events`, key)
  t.equal(stream.response.status, 200)
  await stream.until('"status":"running"')
  const revoked = await ask('DELETE', `/v1/keys/${id}`, OPERATOR)
  t.equal(revoked.status, 200)
  const answered = performance.now()
  t.match(await stream.until(), /event: error\ndata: \{"code":"key_revoked"/)
  t.comment(`ended ${Math.round(performance.now() - answered)} ms after the answer was read`)
  await ask('POST', `/v1/apps/${app}/edits/${edit.body['id']}/cancel`, OPERATOR)
})

import t from 'tap'
import { readConfig } from '../../daemon/config/config.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { openEditor } from '../../daemon/composition/editor.ts'
import { clockOf, createRandom } from '../../daemon/machine/ports.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { until } from '../support/daemon.ts'
import type { Edit } from '../support/edits.ts'
import { FAKE_MODEL, startFakeModel } from '../support/fake-model.ts'

const fake = await startFakeModel()
t.teardown(() => fake.close())

const random = createRandom()
const FILE = 'SUMMARY: Says when we are open.\n\nFILE hours.html\n````\n<h1>9 to 5</h1>\n````\n'

void t.test(
  'a model is reached where the operator says, and nowhere that clouds keep secrets',
  async (t) => {
    const refused = [
      'http://169.254.169.254/v1',
      'http://[fe80::1]/v1',
      'http://100.100.100.200/',
      'ftp://models.example.com',
      'http://user:pass@models.example.com',
      'http://:pass@models.example.com',
    ]
    for (const KEYHOOK_LLM_BASE_URL of refused) {
      t.throws(
        () => readConfig({ KEYHOOK_LLM_BASE_URL }),
        /KEYHOOK_LLM_BASE_URL/,
        KEYHOOK_LLM_BASE_URL,
      )
    }
    const ports = { clock: clockOf({}), random, ownHosts: [] }
    t.throws(() => readConfig({ KEYHOOK_LLM_BASE_URL: fake.url }), /KEYHOOK_LLM_MODEL/)
    const none = await openEditor(readConfig({}), ports)
    t.equal(none.available, false)
  },
)

void t.test('a daemon goes on with what it was stopped in', async (t) => {
  const operator = 'operator-token-of-the-tests-0123456789'
  const config = readConfig({
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_PORT: '0',
    KEYHOOK_OPERATOR_TOKEN: operator,
    KEYHOOK_LLM_BASE_URL: fake.url,
    KEYHOOK_LLM_MODEL: FAKE_MODEL,
  })
  const start = async () => {
    const daemon = await startDaemon(config, createLog('silent'))
    let stopping: Promise<void> | undefined
    const stop = () => (stopping ??= daemon.stop())
    t.teardown(stop)
    const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' }
    return {
      stop,
      async call(path: string, body?: object, account = ''): Promise<Edit> {
        const response = await fetch(daemon.url + path, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { ...headers, ...(account === '' ? {} : { 'keyhook-account': account }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        return (await response.json()) as Edit
      },
    }
  }
  const first = await start()
  const account = (await first.call('/v1/accounts', { name: 'A' })).id
  const seen = fake.requests.length
  const never = { text: FILE, before: new Promise(() => undefined) }
  const prompt = fake.script(never, { text: FILE })
  const app = await first.call('/v1/apps', { prompt }, account)
  t.equal(app.status, 'creating')
  await until('the model is asked', () => fake.requests.length > seen)
  await first.stop()
  t.ok(fake.requests.at(-1)?.isAborted, 'the question is taken back')

  const second = await start()
  const at = `/v1/apps/${app.id}/edits/${String(app['edit_id'])}`
  const edit = await second.call(`${at}/status?wait=25`, undefined, account)
  t.match(edit, { status: 'completed', result_revision: 2 })
  t.match(await second.call(`/v1/apps/${app.id}`, undefined, account), { status: 'ready' })
  const events = await second.call('/v1/events?order=asc', undefined, account)
  t.match(events['data'], [{ type: 'app.created' }, { type: 'edit.completed' }])
  t.equal((events['data'] as readonly unknown[]).length, 2)
})

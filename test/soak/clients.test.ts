/** Clients that generators make of the OpenAPI document compile, and do what the document says. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { askControl } from '../support/control.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { CLIENTS, failureOf, isInstalled } from '../support/generated-clients.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

t.setTimeout(20 * MINUTE)

const run = promisify(execFile)
const folder = t.testdir()
const data = join(folder, 'data')
const daemon = await startDaemonProcess({
  KEYHOOK_DATA_DIR: data,
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'a long password',
  KEYHOOK_EVENT_TYPES: 'client.called',
})
t.teardown(() => daemon.end('SIGTERM'))
const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
t.teardown(() => receiver.close())
const target = `http://${receiver.host}:${receiver.port}/in`
const document = await (await fetch(`${daemon.url}/v1/openapi.json`)).text()
const { key } = await askControl(data)('POST', '/v1/keys', { name: 'clients', scopes: ['*:*'] })

for (const open of CLIENTS) {
  const place = join(folder, `client-${CLIENTS.indexOf(open)}`)
  mkdirSync(place)
  const client = open(place)
  if (!isInstalled(client, place)) {
    t.comment(`${client.language}: not run, its generator is not installed`)
    t.not(process.env['CI'], 'true', `a machine of CI has ${client.language} and its generator`)
    continue
  }
  await t.test(`the client of ${client.language} is made, compiles and works`, async (t) => {
    writeFileSync(join(place, 'openapi.json'), document)
    for (const command of client.build) {
      t.equal(failureOf(command, place), undefined, command.join(' '))
    }
    const [program = '', ...args] = client.program
    const { stdout } = await run(program, [...args, daemon.url, String(key), target])
    t.strictSame(JSON.parse(stdout), {
      listed: true,
      minted: `made by ${client.language}`,
      description: null,
      published: 'accepted',
      batch: 2,
      arrived: 3,
      refused: 'insufficient_scope',
    })
  })
}

/** Requests of the command line to a daemon that is far, slow, or no daemon. */
import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { exchange } from '../../daemon/cli/exchange.ts'
import { runKeyhook } from '../support/backups.ts'
import { certify } from '../support/egress.ts'

const GET = { method: 'GET', path: '/v1/keys', body: undefined } as const
const MIB = 2 ** 20

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

async function ask(answer: RequestListener, within = 30_000) {
  const url = `http://127.0.0.1:${await listen(createServer(answer))}`
  return exchange({ url }, GET, { account: undefined, key: 'k', within })
}

await t.test('a response is read to its end, and up to 64 MiB', async (t) => {
  const part = Buffer.alloc(MIB, 'a')
  const answering =
    (parts: number): RequestListener =>
    async (_, response) => {
      response.on('error', () => undefined)
      for (let at = 0; at < parts && response.writable; at++) {
        if (!response.write(part))
          await Promise.race([once(response, 'drain'), once(response, 'close')])
      }
      response.end()
    }
  const { status, text } = await ask(answering(64))
  t.strictSame([status, text.length], [200, 64 * MIB])
  await t.rejects(ask(answering(65)), { message: /answered more than 67108864 bytes/ })
})

await t.test('a response that never begins, or never ends, is late', async (t) => {
  const late = { code: 'ETIMEDOUT', message: /what it did is not known/ }
  await t.rejects(
    ask(() => undefined, 200),
    late,
  )
  const trickling: RequestListener = (_, response) => {
    const timer = setInterval(() => response.write('.'), 20)
    response.on('close', () => {
      clearInterval(timer)
    })
  }
  await t.rejects(ask(trickling, 200), late)
})

await t.test('over https it trusts who the machine trusts, and sends others no key', async (t) => {
  const { cert, key } = await certify(t.testdir({}), 'localhost')
  const asked: (string | undefined)[] = []
  const server = createSecureServer({ cert, key }, ({ headers }, response) => {
    asked.push(headers.authorization)
    response.setHeader('Content-Type', 'application/json')
    response.end('{"data":[],"has_more":false,"next_cursor":null}')
  })
  const url = `https://localhost:${await listen(server)}`
  const folder = t.testdir({ 'ca.pem': cert })
  const remote = { KEYHOOK_URL: url, KEYHOOK_KEY: 'service_dk_of_this_test' }
  const list = (env: NodeJS.ProcessEnv) =>
    runKeyhook(folder, ['key', 'list', '--json'], { env: { ...remote, ...env } })
  const distrusted = await list({})
  t.match(distrusted, { code: 1, err: /not trusted: DEPTH_ZERO_SELF_SIGNED_CERT/ })
  t.strictSame(asked, [])
  const listed = await list({ NODE_EXTRA_CA_CERTS: `${folder}/ca.pem` })
  t.equal(listed.code, 0, listed.err)
  t.strictSame(asked, ['Bearer service_dk_of_this_test'])
})

import { lookup, Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import t from 'tap'
import { createNameLookup } from '../../plugins/egress/look-up.ts'
import '../fuzz-api/loopback-only.ts'

await t.test(
  'the daemon of the API fuzzer asks and reaches nobody beyond its machine',
  async (t) => {
    const code = 'ENETUNREACH'
    const resolver = new Resolver()
    await t.rejects(resolver.resolve4('hooks.example.com.'), { code })
    await t.rejects(resolver.resolve6('hooks.example.com.'), { code })
    t.equal(await createNameLookup().addresses('hooks.example.com'), undefined)
    for (const host of ['192.0.2.1', '2001:db8::1', 'hooks.example.com']) {
      const [cause] = (await once(connect({ host, port: 443 }), 'error').catch((error: unknown) => [
        error,
      ])) as [unknown]
      t.match(cause, { code }, host)
    }

    const server = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    const [heard] = (await once(socket, 'data')) as [Buffer]
    t.equal(heard.toString(), 'here')
    t.match(await lookup('localhost'), { address: /^(127\.0\.0\.1|::1)$/ })
  },
)

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { EgressCause, EgressResult } from '../../../plugins/egress/contract.ts'
import {
  certify,
  clientFor,
  failed,
  NAME,
  OK,
  receiverAt,
  requestTo,
  resolvingTo,
  type Certificate,
} from '../../support/egress.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'
import type { Checks } from '../run.ts'

/** What happens on the way to a permitted receiver, and after its answer. */
export const EXCHANGE_CHECKS: Checks = {
  async D05(t, saw) {
    const other = await receiverAt(t, answerWith(OK), '127.0.0.3')
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `http://127.0.0.3:${other.port}/`
      const head = `HTTP/1.1 ${status} Elsewhere\r\nlocation: ${location}\r\n`
      const receiver = await receiverAt(t, answerWith(`${head}content-length: 0\r\n\r\n`))
      const client = clientFor(t, { allow: '127.0.0.2,127.0.0.3' })
      const result = await client.send(requestTo(receiver))
      t.match(result, { ok: true, status })
      if (result.ok) saw(String(result.status))
    }
    t.equal(other.connections, 0)
  },

  async D06(t, saw) {
    const receiver = await receiverAt(t, answerWith(OK))
    const proxy = await receiverAt(t, answerWith('HTTP/1.1 502 Proxy\r\n\r\n'), '127.0.0.1')
    const address = `http://127.0.0.1:${proxy.port}`
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((n) => [n, n.toLowerCase()])
    const sender = fork(new URL('send-once.js', import.meta.url), [String(receiver.port)], {
      env: {
        ...process.env,
        ...Object.fromEntries(names.map((name) => [name, address])),
        NODE_USE_ENV_PROXY: '1',
      },
    })
    const [result] = (await once(sender, 'message')) as [EgressResult]
    if (result.ok) saw(String(result.status))
    await once(sender, 'exit')
    t.equal(receiver.requests.length, 1)
    t.equal(proxy.connections, 0)
  },

  async D16(t, saw) {
    interface Expected {
      readonly trusted: boolean
      readonly cause: EgressCause
    }
    const rows: readonly (readonly [string, Certificate, Expected])[] = [
      [
        'self-signed',
        await certify(t.testdir(), NAME),
        { trusted: false, cause: 'certificate_untrusted' },
      ],
      [
        'expired',
        await certify(t.testdir(), NAME, -1),
        { trusted: true, cause: 'certificate_expired' },
      ],
      [
        'for another name',
        await certify(t.testdir(), 'other.example.com'),
        { trusted: true, cause: 'certificate_name' },
      ],
    ]
    for (const [title, tls, { trusted, cause }] of rows) {
      const receiver = await startReceiver(answerWith(OK), { host: '127.0.0.2', tls })
      t.teardown(() => receiver.close())
      const url = `https://${NAME}:${receiver.port}/`
      const setup = trusted ? { tls: { ca: tls.cert } } : {}
      const result = await clientFor(t, setup).send(requestTo(receiver, { url }))
      t.match(result, failed('tls', cause), title)
      if (!result.ok) saw(result.code)
      t.equal(receiver.requests.length, 0, title)
    }

    const good = await certify(t.testdir(), NAME)
    const receiver = await startReceiver(answerWith(OK), { host: '127.0.0.2', tls: good })
    t.teardown(() => receiver.close())
    const client = clientFor(t, { tls: { ca: good.cert }, resolve: resolvingTo(['127.0.0.2']) })
    const send = (host: string): Promise<EgressResult> =>
      client.send(requestTo(receiver, { url: `https://${host}:${receiver.port}/` }))
    t.match(await send(NAME), { ok: true }, 'of all that is refused, one thing alone is wrong')
    t.equal(
      receiver.serverNames.at(-1),
      NAME,
      'the name is asked for, though the address is pinned',
    )
    t.match(
      await send('127.0.0.2'),
      failed('tls', 'certificate_name'),
      'the certificate is for the name',
    )
    t.equal(receiver.requests.length, 1)
  },
}

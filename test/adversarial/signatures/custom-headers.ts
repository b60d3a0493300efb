import type { Test } from 'tap'
import { brandNames, customHeaderProblem } from '../../../lib/webhook/headers.ts'
import { clientFor, OK, receiverAt, requestTo } from '../../support/egress.ts'
import { answerWith } from '../../support/receiver.ts'
import type { Checks, Saw } from '../run.ts'

type Header = readonly [name: string, value: string]

const names = brandNames('service')

/** What is said of custom headers when they are to be stored. */
function refuseStored(t: Test, saw: Saw, headers: readonly Header[]): void {
  for (const [name, value] of headers) {
    const problem = customHeaderProblem(name, value, names)
    t.match(problem, /^(?:A header|This header) .+\.$/, JSON.stringify([name, value]))
    if (problem !== undefined) saw('refused')
  }
}

/** What becomes of a request that bears one nevertheless. */
async function refuseSent(t: Test, saw: Saw, headers: readonly Header[]): Promise<void> {
  const receiver = await receiverAt(t, answerWith(OK))
  const client = clientFor(t, { maxSocketsPerOrigin: 1 })
  for (const header of headers) {
    const result = await client.send(requestTo(receiver, { headers: Object.fromEntries([header]) }))
    t.match(result, { ok: false, code: 'protocol' }, JSON.stringify(header))
    if (!result.ok) saw(result.code)
  }
  t.equal(receiver.connections, 0)
  t.match(await client.send(requestTo(receiver)), { ok: true }, 'and the origin still works')
}

const BREAKING: readonly Header[] = [
  ['X-A', 'a\r\nX-B: c'],
  ['X-A', 'a\n b'],
  ['X-A', '\r'],
  ['X-A', 'a\0b'],
  ['X-A', '\x7f'],
  ['X-A', 'Ā'],
  ['X-A', '🎉'],
  ['X-A\r\nX-B', 'c'],
  ['X A', 'b'],
  ['', 'b'],
]

const FRAMING: readonly Header[] = [
  ['Host', 'internal.example.com'],
  ['Content-Length', '3'],
  ['Transfer-Encoding', 'chunked'],
  ['Connection', 'close'],
  ['Upgrade', 'h2c'],
  ['TE', 'trailers'],
  ['Trailer', 'x'],
  ['Expect', '100-continue'],
  ['Keep-Alive', 'timeout=9'],
  ['Accept-Encoding', 'gzip'],
  ['Proxy-Authorization', 'Basic eA=='],
]

const OURS: readonly Header[] = [
  ['X-Service-Event', 'app.created'],
  ['x-service-delivery-id', '1'],
  ['SERVICE-SIGNATURE', 't=1,v1=0'],
  ['User-Agent', 'x'],
  ['Content-Type', 'text/plain'],
  ['webhook-id', 'msg_1'],
  ['Webhook-Signature', 'v1,x'],
]

export const HEADER_CHECKS: Checks = {
  async V26(t, saw) {
    refuseStored(t, saw, BREAKING)
    await refuseSent(t, saw, BREAKING)
  },

  async V27(t, saw) {
    refuseStored(t, saw, [...FRAMING, ...OURS])
    await refuseSent(t, saw, FRAMING)
  },
}

/**
 * Sends one request in a process of its own, which was started with whatever its environment holds.
 *
 * @module
 */
import { parseAllowList } from '../../../lib/egress/url.ts'
import { createEgressClient } from '../../../plugins/egress/undici.ts'
import { requestTo } from '../../support/egress.ts'

const client = createEgressClient({
  policy: { schemes: ['https', 'http'], allow: parseAllowList('127.0.0.2') },
  resolve: () => Promise.resolve(['127.0.0.2']),
})
process.send?.(await client.send(requestTo({ port: Number(process.argv[2]) })))
await client.close()
process.disconnect()

import { createHmac } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'
import { serve } from './child.ts'

/** The baseline of delivering: undici's pool, an HMAC over each body, the answer dumped. */
async function deliver(input: {
  readonly origin: string
  readonly body: string
  readonly connections: number
  readonly count: number
}): Promise<number> {
  const { origin, connections, count } = input
  const pool = new Pool(origin, { connections })
  const body = Buffer.from(input.body)
  let left = count
  async function client(): Promise<void> {
    while (left > 0) {
      left--
      const t = Math.floor(Date.now() / 1000)
      const mac = createHmac('sha256', 'whsec_bench').update(`${t}.`).update(body).digest('hex')
      const answer = await pool.request({
        method: 'POST',
        path: '/in',
        headers: { 'content-type': 'application/json', 'service-signature': `t=${t},v1=${mac}` },
        body,
      })
      await answer.body.dump()
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: connections }, client))
  const took = (performance.now() - started) / 1000
  await pool.close()
  return count / took
}

serve({ deliver })

import { createHmac } from 'node:crypto'
import { Pool } from 'undici'

/** Signs and sends as anybody would by hand: one pool, one HMAC, and the answer thrown away. */
export interface BareSender {
  /** @throws Error for anything but 2xx */
  send(body: Buffer): Promise<void>
  close(): Promise<void>
}

export function createBareSender(origin: string, connections: number): BareSender {
  const pool = new Pool(origin, { connections })
  return {
    async send(body) {
      const t = Math.floor(Date.now() / 1000)
      const mac = createHmac('sha256', 'whsec_bench').update(`${t}.`).update(body).digest('hex')
      const answer = await pool.request({
        method: 'POST',
        path: '/in',
        headers: { 'content-type': 'application/json', 'service-signature': `t=${t},v1=${mac}` },
        body,
      })
      await answer.body.dump()
      if (answer.statusCode > 299) throw new Error(`answered ${answer.statusCode}`)
    },
    close: () => pool.close(),
  }
}

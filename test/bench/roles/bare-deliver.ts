import { WARM_UP_MS, now } from '../clock.ts'
import { envelope } from '../payload.ts'
import { createBareSender } from '../sender.ts'
import { serve } from '../serve.ts'

/** The baseline of delivering: a loop that signs and sends, and keeps nothing. */
async function deliver(input: {
  readonly origin: string
  readonly connections: number
  readonly seconds: number
}): Promise<number> {
  const sender = createBareSender(input.origin, input.connections)
  const body = Buffer.from(envelope)
  const from = now() + WARM_UP_MS * 1000
  const end = from + input.seconds * 1e6
  let count = 0
  async function client(): Promise<void> {
    for (let sent = now(); sent < end; sent = now()) {
      await sender.send(body)
      if (sent >= from) count++
    }
  }
  await Promise.all(Array.from({ length: input.connections }, client))
  const took = (now() - from) / 1e6
  await sender.close()
  return count / took
}

serve({ deliver })

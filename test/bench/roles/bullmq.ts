import { Queue, Worker } from 'bullmq'
import { now } from '../clock.ts'
import { envelope } from '../payload.ts'
import type { PeerAsked } from '../peers.ts'
import { chunksOf } from '../peers.ts'
import { createBareSender } from '../sender.ts'
import { serve } from '../serve.ts'

const QUEUE = 'deliver'
const RETRIES = { attempts: 10, backoff: { type: 'exponential', delay: 5000 } } as const

function connectionTo(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

/** Jobs with retries, added in bulk. */
async function fill({ url, count }: PeerAsked): Promise<void> {
  const queue = new Queue(QUEUE, { connection: connectionTo(url), defaultJobOptions: RETRIES })
  for (const size of chunksOf(count)) {
    await queue.addBulk(
      Array.from({ length: size }, () => ({ name: QUEUE, data: { body: envelope } })),
    )
  }
  await queue.close()
}

/** One worker, as many jobs under way as there are sockets twice over; what is done is removed. */
async function drain({ url, receiver, count, connections }: PeerAsked): Promise<number> {
  const sender = createBareSender(receiver, connections)
  const worker = new Worker<{ body: string }>(
    QUEUE,
    async ({ data }) => {
      await sender.send(Buffer.from(data.body))
    },
    {
      connection: connectionTo(url),
      concurrency: connections * 2,
      removeOnComplete: { count: 0 },
      autorun: false,
    },
  )
  await worker.waitUntilReady()
  const started = now()
  await new Promise<void>((resolve, reject) => {
    let done = 0
    worker.on('completed', () => {
      done++
      if (done === count) resolve()
    })
    worker.on('error', reject)
    worker.run().catch(reject)
  })
  const took = (now() - started) / 1e6
  await worker.close()
  await sender.close()
  return count / took
}

serve({ fill, drain })

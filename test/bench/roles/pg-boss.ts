import PgBoss from 'pg-boss'
import { now } from '../clock.ts'
import { envelope } from '../payload.ts'
import type { PeerAsked } from '../peers.ts'
import { chunksOf } from '../peers.ts'
import { createBareSender } from '../sender.ts'
import { serve } from '../serve.ts'

const QUEUE = 'deliver'
/** Batches are fetched by several loops, so that the pool of sockets is never empty while one commits. */
const LOOPS = 4
const BATCH = 250

let boss: PgBoss | undefined

/** Jobs with retries, inserted in bulk. */
async function fill({ url, count }: PeerAsked): Promise<void> {
  boss = new PgBoss({ connectionString: url, schedule: false })
  boss.on('error', (cause) => {
    process.stderr.write(`pg-boss: ${cause.message}\n`)
  })
  await boss.start()
  await boss.createQueue(QUEUE, {
    name: QUEUE,
    retryLimit: 9,
    retryDelay: 5,
    retryBackoff: true,
  })
  for (const size of chunksOf(count)) {
    await boss.insert(
      Array.from({ length: size }, () => ({ name: QUEUE, data: { body: envelope } })),
    )
  }
}

/** Fetched, sent and completed in batches; what fails is failed and tried again by the queue. */
async function drain({ receiver, count, connections }: PeerAsked): Promise<number> {
  const queue = boss
  if (queue === undefined) throw new Error('not filled')
  const sender = createBareSender(receiver, connections)
  let done = 0

  async function loop(): Promise<void> {
    while (done < count) {
      const jobs = await queue?.fetch<{ body: string }>(QUEUE, { batchSize: BATCH })
      if (jobs === undefined || jobs.length === 0) return
      const results = await Promise.allSettled(
        jobs.map(({ data }) => sender.send(Buffer.from(data.body))),
      )
      const idsOf = (status: 'fulfilled' | 'rejected'): string[] =>
        jobs.filter((_, index) => results[index]?.status === status).map(({ id }) => id)
      const sent = idsOf('fulfilled')
      const failed = idsOf('rejected')
      if (sent.length > 0) await queue?.complete(QUEUE, sent)
      if (failed.length > 0) await queue?.fail(QUEUE, failed)
      done += sent.length
    }
  }

  const started = now()
  await Promise.all(Array.from({ length: LOOPS }, loop))
  const took = (now() - started) / 1e6
  await sender.close()
  await queue.stop({ graceful: false })
  if (done < count) throw new Error(`only ${done} of ${count} were delivered`)
  return count / took
}

serve({ fill, drain })

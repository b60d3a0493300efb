import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { delay, now } from '../clock.ts'
import { envelope } from '../payload.ts'
import type { PeerAsked } from '../peers.ts'
import { chunksOf } from '../peers.ts'
import { createBareSender } from '../sender.ts'
import { serve } from '../serve.ts'

const TASK = 'deliver'
const logger = new Logger(() => () => undefined)

/** Jobs with retries, added in bulk. */
async function fill({ url, count }: PeerAsked): Promise<void> {
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()
  for (const size of chunksOf(count)) {
    await utils.addJobs(
      Array.from({ length: size }, () => ({
        identifier: TASK,
        payload: { body: envelope },
        maxAttempts: 10,
      })),
    )
  }
  await utils.release()
}

/** A local queue and batched completion, as its page on performance says. */
async function drain({ url, receiver, count, connections }: PeerAsked): Promise<number> {
  const sender = createBareSender(receiver, connections)
  let sent = 0
  const started = now()
  const runner = await run({
    preset: {
      worker: {
        connectionString: url,
        concurrentJobs: connections,
        maxPoolSize: 10,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    noHandleSignals: true,
    logger,
    taskList: {
      async [TASK](payload) {
        const { body } = payload as { body: string }
        await sender.send(Buffer.from(body))
        sent++
      },
    },
  })
  // Asked of the server only at the end: what is completed is deleted.
  while (sent < count) await delay(5)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  while ((await client.query('SELECT 1 FROM graphile_worker.jobs LIMIT 1')).rows.length > 0) {
    await delay(5)
  }
  const took = (now() - started) / 1e6
  await client.end()
  await runner.stop()
  await sender.close()
  return count / took
}

serve({ fill, drain })

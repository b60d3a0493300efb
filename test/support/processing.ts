import { setTimeout as delay } from 'node:timers/promises'
import { createFileHandler } from '../../daemon/families/files/process.ts'
import { runJobs, jobTimes } from '../../daemon/jobs/runner.ts'
import type { JobTimes } from '../../daemon/jobs/runner.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import { HOUR } from '../../lib/time.ts'
import type { FileProcessor } from '../../plugins/files/contract.ts'
import { createMemoryFileProcessor } from '../../plugins/files/memory.ts'
import type { Knowledge, KnowledgeFile } from './knowledge.ts'
import { createKnowledge } from './knowledge.ts'

type Scope = Parameters<typeof createKnowledge>[0]

/** Waits for what is to come about by itself. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(5)
}

/** A world whose files are processed by this, and a worker that looks for them when it is woken. */
export async function openWorld(
  t: Scope,
  fileProcessor: FileProcessor,
  options: Parameters<typeof createKnowledge>[1] = {},
) {
  const world = await createKnowledge(t, { ...options, fileProcessor })
  const log = createLog('silent')
  const start = (times: Partial<JobTimes & { readonly again: Millis }> = {}, every = HOUR) => {
    const { again, ...given } = times
    const worker = runJobs(
      world.platform,
      log,
      (platform, warn) => createFileHandler(platform, warn, again),
      { ...jobTimes('file'), ...given },
      every,
    )
    t.teardown(() => worker.stop())
    return worker
  }
  t.teardown(() => fileProcessor.close())
  return { ...world, ...asked(world), start }
}

function asked({ request, app, upload }: Knowledge) {
  const get = async (id: string) =>
    (await request<KnowledgeFile>('GET', `/v1/apps/${app}/files/${id}`)).body
  return {
    get,
    /** Uploads a file that is to be processed. */
    async send(content: string | Uint8Array, name = 'a.md'): Promise<string> {
      const { data } = (await upload([[name, content]])).body
      return data[0]?.id ?? ''
    },
    async ended(id: string): Promise<KnowledgeFile> {
      await until(async () => ['processed', 'failed'].includes((await get(id)).status))
      return get(id)
    },
    async search(query: string) {
      const body = { query }
      const path = `/v1/apps/${app}/files/search`
      return (await request<{ data: { text: string; name: string }[] }>('POST', path, { body }))
        .body.data
    },
  }
}

export const memory = createMemoryFileProcessor()

/** A processor that does at each call what the test says, then what the one in memory does. */
export function scripted(first: (call: number, signal: AbortSignal) => Promise<void> | void) {
  const seen = { calls: 0, running: 0, most: 0 }
  const processor: FileProcessor = {
    ...memory,
    close: async () => undefined,
    async process(task, options) {
      seen.calls++
      seen.most = Math.max(seen.most, ++seen.running)
      try {
        await first(seen.calls, options.signal)
        return await memory.process(task, options)
      } finally {
        seen.running--
      }
    },
  }
  return { seen, processor }
}

/** Waits for ever, as far as the signal lets it. */
export function hang(signal: AbortSignal): Promise<void> {
  return orAborted(new Promise<never>(() => undefined), signal)
}

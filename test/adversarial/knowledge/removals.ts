import { join } from 'node:path'
import type { Test } from 'tap'
import { createFileHandler } from '../../../daemon/families/files/process.ts'
import { createRunner, jobTimes } from '../../../daemon/jobs/runner.ts'
import { createLog } from '../../../daemon/telemetry/log.ts'
import { startPassageRemoval } from '../../../daemon/worker/removed.ts'
import { purgeExpired } from '../../../daemon/worker/retention.ts'
import type { FileRecord } from '../../../plugins/platform/contract/files.ts'
import {
  claimFile,
  findTexts,
  insertFiles,
  processFiles,
  sampleChunk,
  sampleFile,
} from '../../platform/file-samples.ts'
import { openPlatformStore } from '../../../plugins/platform/open.ts'
import { fileError } from '../../../plugins/files/contract.ts'
import { createMemoryFileProcessor } from '../../../plugins/files/memory.ts'
import { DAY, MINUTE } from '../../../lib/time.ts'
import { until } from '../../support/daemon.ts'
import type { Knowledge } from '../../support/knowledge.ts'
import { createKnowledge } from '../../support/knowledge.ts'
import type { WorldOptions } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const PASSAGES = 1600
const ID = 'file_1'
const CHUNKS = Array.from({ length: PASSAGES }, (_, at) => sampleChunk(at, `alpha ${at}`))
const RETENTION = { events: DAY, audit: DAY, access: DAY }

/** A world whose passages can be counted, whoever deletes them. */
async function openRemovals(t: Test, options: WorldOptions = {}) {
  const world = await createKnowledge(t, options)
  const { platform, account, app } = world
  const passages = async () => (await platform.store.files.chunks(ID, 0, 10 * PASSAGES)).length
  const file: FileRecord = sampleFile(ID, { app_id: app, account_id: account.id, size: 1 })
  return { ...world, file, passages, most: watchUnits(world, passages) }
}

/** The most passages that one unit of work has deleted so far. */
function watchUnits({ platform }: Knowledge, passages: () => Promise<number>): () => number {
  const { write, purge } = platform.store
  let most = 0
  async function watch<T>(unit: () => Promise<T>): Promise<T> {
    const before = await passages()
    const result = await unit()
    most = Math.max(most, before - (await passages()))
    return result
  }
  Object.assign(platform.store, {
    write: (...asked: Parameters<typeof write>) => watch(() => write(...asked)),
    purge: (...asked: Parameters<typeof purge>) => watch(() => purge(...asked)),
  })
  return () => most
}

function say(most: number): string {
  return most > 0 && most <= 50 ? '50 at most' : `${most}`
}

export const REMOVAL_CHECKS: Checks = {
  async N09(t, saw) {
    const world = await openRemovals(t)
    const { platform, app, file, passages, most, request, addAccount, userOf } = world
    const { store } = platform
    await processFiles(store, { file, chunks: CHUNKS })
    const other = userOf(await addAccount())
    const path = `/v1/apps/${app}/files/${ID}`
    t.match(await request('DELETE', path), { status: 200 })
    saw(`${PASSAGES - (await passages())} passages`)
    t.same(await findTexts(store, 'alpha', { app_id: app }), [])
    const { purge } = store
    const order: string[] = []
    Object.assign(store, {
      purge: async (...asked: Parameters<typeof purge>) => {
        const purged = await purge(...asked)
        order.push('portion')
        if (order.length === 1) {
          const body = { name: 'a key', scopes: ['apps:read'] }
          t.match(await request('POST', '/v1/keys', { as: other, body }), { status: 201 })
          order.push('write')
        }
        return purged
      },
    })
    const removing = startPassageRemoval(platform, createLog('silent'))
    t.teardown(() => removing.stop())
    await until('all are gone', async () => (await passages()) === 0)
    await removing.stop()
    saw(say(most()))
    saw(order.indexOf('write') < order.lastIndexOf('portion') ? 'in between' : 'afterwards')
  },

  async N10(t, saw) {
    const file = join(t.testdir(), 'keyhook.sqlite')
    const left = async (clean: (store: Knowledge['platform']['store']) => Promise<unknown>) => {
      const { store, client } = await openPlatformStore(file, { tablePrefix: '' })
      await clean(store)
      const [row] = await client.read(
        `SELECT (SELECT count(*) FROM file_chunks) + (SELECT count(*) FROM file_words)
           + (SELECT count(*) FROM removed_files) AS "all"`,
      )
      await store.close()
      return Number(row?.['all'])
    }
    const remove = async (store: Knowledge['platform']['store']) => {
      await processFiles(store, { file: sampleFile(ID), chunks: CHUNKS })
      await store.write((tx) => tx.files.remove('app_1', ID))
    }
    t.equal(await left(remove), 2 * PASSAGES + 1)
    const { platform } = await createKnowledge(t)
    const start = async (store: Knowledge['platform']['store']) => {
      const removing = startPassageRemoval({ ...platform, store }, createLog('silent'))
      await until('all are gone', async () => (await store.files.chunks(ID, 0, 1)).length === 0)
      await removing.stop()
    }
    const hour = (store: Knowledge['platform']['store']) => purgeExpired(store, RETENTION, 0)
    for (const clean of [start, hour]) {
      if ((await left(clean)) === 0) saw('nothing is left')
      await left(remove)
    }
  },

  async N11(t, saw) {
    const fileProcessor = {
      ...createMemoryFileProcessor(),
      async process() {
        if ((await passages()) === 0) saw('nothing is left')
        await platform.store.write((tx) => tx.files.addChunks(ID, claim, CHUNKS))
        throw fileError('damaged')
      },
    }
    const { platform, file, passages, most, account, app } = await openRemovals(t, {
      fileProcessor,
    })
    const { store, clock } = platform
    let claim = 'first'
    await insertFiles(store, file)
    await claimFile(store, claim, clock.now() - 10 * MINUTE)
    await store.write((tx) => tx.files.addChunks(ID, claim, CHUNKS))
    await platform.plugins.appBytes?.put(app, Buffer.from('a'))
    const { newId } = platform
    const next = { ...platform, newId: () => (claim = newId()) }
    const stopping = new AbortController().signal
    const warn = (): void => undefined
    const handler = createFileHandler(next, warn)
    const runner = createRunner(next, handler, jobTimes('file'), warn)
    t.equal(await runner.runNext(stopping), true)
    t.match(await store.files.get(app, ID), { status: 'failed', account_id: account.id })
    t.equal(await passages(), 0)
    saw(say(most()))
  },
}

import { join } from 'node:path'
import sqlite3 from 'sqlite3'
import type { Test } from 'tap'
import type { FileChunk } from '../../../plugins/platform/contract/files.ts'
import { findTexts, processFiles, sampleChunk, sampleFile } from '../../platform/file-samples.ts'
import { platformOver } from '../../platform/over-client.ts'
import { openPlatformStore } from '../../../plugins/platform/open.ts'
import type { SqlClient } from '../../../plugins/store/sql/client.ts'
import type { Checks } from '../run.ts'

const MOST_COMPARED = 2000
const READS = 16

async function openWatched(t: Test) {
  const { store, client } = await openPlatformStore(join(t.testdir(), 'keyhook.sqlite'), {
    tablePrefix: '',
  })
  t.teardown(() => store.close())
  return { store, client }
}

/** Counts for some ten milliseconds. */
function slow(name: string): string {
  return `WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300000)
    SELECT count(*) AS ${name} FROM c`
}

/** Sixteen reads that take long, begun at once. */
function readSlowly(client: SqlClient): {
  readonly ended: number
  readonly all: Promise<unknown>
} {
  let ended = 0
  const reads = Array.from({ length: READS }, () =>
    client.read(slow('slow_reads')).finally(() => (ended += 1)),
  )
  return {
    get ended() {
      return ended
    },
    all: Promise.all(reads),
  }
}

/** How many statements whose text names each of these were with the driver at once, and altogether. */
function watchDriver(t: Test, names: readonly string[]): ReadonlyMap<string, number> {
  type All = (...given: unknown[]) => unknown
  const statements = sqlite3.Statement.prototype as unknown as { all: All }
  const { all } = statements
  const now = new Map<string, number>()
  const most = new Map<string, number>()
  function count(name: string, change: 1 | -1): void {
    for (const one of [name, 'all']) {
      const handed = (now.get(one) ?? 0) + change
      now.set(one, handed)
      most.set(one, Math.max(handed, most.get(one) ?? 0))
    }
  }
  statements.all = function (this: { readonly sql: string }, ...given) {
    const name = names.find((one) => this.sql.includes(one))
    const done = given.at(-1)
    if (name === undefined || typeof done !== 'function') return all.apply(this, given)
    count(name, 1)
    const told = (...answer: unknown[]): void => {
      count(name, -1)
      ;(done as All)(...answer)
    }
    return all.call(this, ...given.slice(0, -1), told)
  }
  t.teardown(() => (statements.all = all))
  return most
}

/** The client, noting what its searches ask and how many rows they are answered. */
function noting(client: SqlClient, asked: { bind: readonly unknown[]; rows: number }[]): SqlClient {
  return {
    ...client,
    async search<Row extends object>(sql: string, bind: readonly unknown[] = []) {
      const rows = await client.search<Row>(sql, bind)
      asked.push({ bind, rows: rows.length })
      return rows
    },
  }
}

function chunksOf(texts: readonly string[]): readonly FileChunk[] {
  return texts.map((text, ordinal) => sampleChunk(ordinal, text))
}

export const READ_CHECKS: Checks = {
  async N01(t, saw) {
    const { store, client } = await openWatched(t)
    const most = watchDriver(t, ['slow_reads', 'slow_searches'])
    const reads = readSlowly(client)
    const searches = Array.from({ length: 4 }, () => client.search(slow('slow_searches')))
    await store.write((tx) => tx.accounts.putMetaOnce('a', 'written'))
    const { ended } = reads
    saw(ended < READS / 2 ? 'before half of them end' : `after ${ended} reads`)
    await Promise.all([reads.all, ...searches])
    saw(`${most.get('all')} reads`)
    saw(`${most.get('slow_searches')} search`)
  },

  async N12(t, saw) {
    const { store, client } = await openWatched(t)
    const most = watchDriver(t, ['quick_reads', 'slow_reads'])
    const quick = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 500 }, () => client.read('SELECT 1 AS quick_reads')))
    await quick()
    saw(`${most.get('quick_reads')} quick reads`)
    const reads = readSlowly(client)
    const beside = quick()
    await store.write((tx) => tx.accounts.putMetaOnce('a', 'written'))
    const { ended } = reads
    saw(ended < READS / 2 ? 'before half of them end' : `after ${ended} reads`)
    await Promise.all([reads.all, beside])
    saw(`${most.get('slow_reads')} of the slow ones`)
  },

  async N02(t, saw) {
    const { store } = await openWatched(t)
    const texts = Array.from({ length: MOST_COMPARED }, (_, at) => `alpha beta ${at} and others`)
    const last = 'alpha alpha alpha gamma'
    await processFiles(store, {
      file: sampleFile('file_1'),
      chunks: chunksOf([...texts, last]),
    })
    const found = await findTexts(store, 'alpha')
    saw(found.includes(last) ? 'compared' : 'not compared')
    t.equal(found.length, 50)
    const [best] = await findTexts(store, 'alpha gamma')
    saw(best === last ? 'first' : 'behind')
  },

  async N03(t, saw) {
    const { store, client } = await openWatched(t)
    const words = Array.from({ length: 32 }, (_, at) => `word${at}`)
    const chunk = words.join(' ')
    await processFiles(store, {
      file: sampleFile('file_1'),
      chunks: chunksOf(Array.from({ length: MOST_COMPARED + 1 }, () => chunk)),
    })
    const asked: { bind: readonly unknown[]; rows: number }[] = []
    const noted = await platformOver(noting(client, asked))
    t.equal((await findTexts(noted, chunk)).length, 50)
    const last = asked.at(-1)
    const compared = JSON.parse(String(last?.bind[0])) as readonly unknown[]
    saw(`${compared.length * MOST_COMPARED} in all`)
    saw(`${last?.rows}`)
  },

  async N04(_t, saw) {
    const { store } = await openWatched(_t)
    const own = [
      'alpha stands here once',
      ...Array.from({ length: 10 }, (_, at) => `beta stands here ${at}`),
      ...Array.from({ length: 10 }, (_, at) => `neither stands here ${at}`),
    ]
    await processFiles(
      store,
      { file: sampleFile('file_1'), chunks: chunksOf(own) },
      {
        file: sampleFile('file_2', { app_id: 'app_2', account_id: 'acc_2' }),
        chunks: chunksOf(Array.from({ length: 500 }, () => 'alpha stands there')),
      },
    )
    const [best] = await findTexts(store, 'alpha beta')
    saw(best === own[0] ? 'first' : 'behind')
  },
}

import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  FAILED,
  PROCESSED,
  claimFile,
  clearFile,
  findTexts,
  insertFiles,
  processFiles,
  purgeRemoved,
  sampleChunk,
  sampleFile,
} from './file-samples.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { noting } from './noting.ts'
import { migratePlatform, platformOver } from './over-client.ts'
import type { Query } from '../../plugins/store/sql/client.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { rarest } from '../../plugins/platform/sql/word-index.ts'
import { wordsAsked, wordsOf, withWords } from '../../plugins/platform/contract/words.ts'

await t.test('words', async (t) => {
  t.same([...wordsOf('')], [])
  t.same([...wordsOf('A-b_c d’É 1/2 x²')], ['a', 'b', 'c', 'd', 'e', '1', '2', 'x2'])
  t.same([...wordsOf('one two one')], ['one', 'two', 'one'])
  const long = [...wordsOf('x'.repeat(150))]
  t.same(long, ['x'.repeat(64), 'x'.repeat(64), 'x'.repeat(22)])
  const wide = [...wordsOf('\u{1e922}'.repeat(65))]
  t.notOk(
    wide.some((word) => /\p{Surrogate}/u.test(word)),
    'no character is cut',
  )
  t.same(wordsAsked('b a b'), ['b', 'a'])
  const many = Array.from({ length: 40 }, (_, index) => `w${index}`)
  t.same(wordsAsked(`w0 ${many.join(' ')}`), many.slice(0, 32))
})

await t.test('marks count no more before a text is taken apart than after', async (t) => {
  const plain = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const letter = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '\u0301',
      '\u0316',
      '\u0344',
      '\uff9e',
      'e\u0301',
      '\ufdfa',
      '\u1ea5',
      '\u{1d160}',
    ),
  )
  const law = fc.property(fc.array(letter), (letters) => {
    const text = letters.join('')
    const words = plain(text).matchAll(/[\p{L}\p{N}]{1,64}/gu)
    return JSON.stringify([...wordsOf(text)]) === JSON.stringify([...words].map(([word]) => word))
  })
  t.doesNotThrow(() => fc.assert(law, { numRuns: 2000 }))
})

await t.test('the rarest words are chosen for as long as they cost no more', async (t) => {
  const words = [9, 1, 5, 5, 7].map((holders, number) => ({ number, holders }))
  const chosen = (budget: number) =>
    rarest(words, ({ holders }) => holders, budget).map(({ number }) => number)
  t.same(chosen(27), [1, 2, 3, 4, 0])
  t.same(chosen(26), [1, 2, 3, 4])
  t.same(chosen(11), [1, 2, 3])
  t.same(chosen(10), [1, 2])
  t.same(chosen(0), [])
})

await t.test('words that were worked out before are those that a chunk is found by', async (t) => {
  const { store } = await openPlatformStore(join(t.testdir(), 'keyhook.sqlite'))
  t.teardown(() => store.close())
  const chunk = sampleChunk(0, 'Ünïcode and more')
  t.same(withWords(chunk), { ...chunk, words: ['unicode', 'and', 'more'] })
  await insertFiles(store, sampleFile('file_1'))
  await claimFile(store, 'a', BORN)
  const added = [withWords(chunk), { ...sampleChunk(1, 'as it is'), words: ['otherwise'] }]
  await store.write((tx) => tx.files.addChunks('file_1', 'a', added))
  await store.write((tx) => tx.files.finish('file_1', 'a', BORN, PROCESSED))
  t.same(await findTexts(store, 'UNICODE'), ['Ünïcode and more'])
  t.same(await findTexts(store, 'otherwise'), ['as it is'])
  t.same(await findTexts(store, 'is'), [], 'nobody looks at the text once more')
})

await t.test('SQLite: what is gone leaves no row of the index of words', async (t) => {
  const { store, client } = await openPlatformStore(join(t.testdir(), 'keyhook.sqlite'), {
    tablePrefix: '',
  })
  t.teardown(() => store.close())
  const kept = async (): Promise<unknown> => {
    const [row] = await client.read(
      `SELECT (SELECT count(*) FROM file_words) AS words, (SELECT count(*) FROM file_chunks) AS chunks`,
    )
    return row
  }
  const chunks = [sampleChunk(0, 'alpha beta'), sampleChunk(1, 'alpha gamma')]
  const begin = async (id: string, claim: string): Promise<void> => {
    await claimFile(store, claim, BORN)
    await store.write((tx) => tx.files.addChunks(id, claim, chunks))
  }

  await t.test('a file that is deleted', async (t) => {
    await processFiles(store, { file: sampleFile('file_1'), chunks })
    t.same(await kept(), { words: 2, chunks: 2 })
    await store.write((tx) => tx.files.remove('app_1', 'file_1'))
    t.same(await findTexts(store, 'alpha'), [])
    t.same(await purgeRemoved(store, 1), [1, 1, 1, 0])
    t.same(await kept(), { words: 0, chunks: 0 })
  })

  await t.test('a file that failed', async (t) => {
    await insertFiles(store, sampleFile('file_2'))
    await begin('file_2', 'a')
    t.same(await kept(), { words: 2, chunks: 2 })
    t.equal(await clearFile(store, 'file_2', 'a'), 2)
    await store.write((tx) => tx.files.finish('file_2', 'a', BORN, FAILED))
    t.same(await kept(), { words: 0, chunks: 0 })
  })

  await t.test('an attempt that was taken over', async (t) => {
    await insertFiles(store, sampleFile('file_3'))
    await begin('file_3', 'a')
    await claimFile(store, 'b', BORN + 60_000)
    t.same(await kept(), { words: 2, chunks: 2 })
    t.equal(await clearFile(store, 'file_3', 'b'), 2)
    t.same(await kept(), { words: 0, chunks: 0 })
    await store.write((tx) => tx.files.remove('app_1', 'file_3'))
  })

  await t.test('an app that is purged', async (t) => {
    await processFiles(
      store,
      { file: sampleFile('file_4'), chunks },
      { file: sampleFile('file_5', { app_id: 'app_2' }), chunks },
    )
    await purgeApp(store, 'app_1')
    await purgeRemoved(store)
    t.same(await kept(), { words: 2, chunks: 2 })
    t.equal((await findTexts(store, 'alpha', { app_id: 'app_2' })).length, 2)
    await purgeApp(store, 'app_2')
    await purgeRemoved(store)
    t.same(await kept(), { words: 0, chunks: 0 })
  })
})

async function purgeApp(store: PlatformStore, id: string): Promise<void> {
  await store.write(async (tx) => {
    await tx.apps.insert(sampleApp(id, { archived_at: BORN, purge_at: BORN }))
    await tx.apps.purge(id, BORN)
  })
}

await t.test('SQLite: adding passages never looks at those that a file has already', async (t) => {
  const client = await openSqlite(join(t.testdir(), 'words.sqlite'))
  t.teardown(() => client.close())
  await migratePlatform(client)
  const statements: Parameters<Query>[] = []
  const store = await platformOver(noting(client, statements))
  await insertFiles(store, sampleFile('file_1'))
  await claimFile(store, 'a', BORN)
  await store.write((tx) => tx.files.addChunks('file_1', 'a', [sampleChunk(0, 'alpha beta')]))
  const [sql, bind] = statements.find(([text]) => text.includes('INTO file_words')) ?? ['']
  const plan = await client.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bind)
  t.match(plan.at(-1)?.detail, /^SEARCH kept .*\(file_id=\? AND ordinal=\?\)/)
})

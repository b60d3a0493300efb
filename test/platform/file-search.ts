import assert from 'node:assert/strict'
import type { FileChunk } from '../../plugins/platform/contract/files.ts'
import {
  FAILED,
  PROCESSED,
  claimFile,
  findTexts,
  insertFiles,
  processFiles,
  sampleChunk,
  sampleFile,
} from './file-samples.ts'
import type { PlatformCase } from './harness.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'

const chunksOf = (...texts: readonly string[]): FileChunk[] =>
  texts.map((text, ordinal) => sampleChunk(ordinal, text))

/** A word beyond the letters that databases have known for long, and one of ten thousand. */
const RECENT = '\u{1e900}\u{1e901}'

const wordCases: readonly PlatformCase[] = [
  {
    name: 'search: a passage comes with its file, place and a score above zero',
    async run({ open }) {
      const store = await open()
      const place = {
        heading: 'Orders > "Returns"',
        page: 12,
        start: 4_294_967_296,
        end: 4_294_967_400,
      }
      const chunk = sampleChunk(7, 'Refunds take\n\n14 days.', place)
      await processFiles(store, {
        file: sampleFile('file_1', { name: 'Größe.pdf' }),
        chunks: [sampleChunk(3, 'Nothing'), chunk],
      })
      const search = { app_id: 'app_1', query: 'days', limit: 5, files: null }
      const [found, ...others] = await store.files.search(search)
      const { score = 0, ...passage } = found ?? {}
      assert.deepEqual(passage, { file_id: 'file_1', name: 'Größe.pdf', ...chunk })
      assert.ok(score > 0 && Number.isFinite(score))
      assert.deepEqual(others, [])
    },
  },
  {
    name: 'search: any of the words is enough, in any order, whatever parts them',
    async run({ open }) {
      const store = await open()
      await processFiles(store, {
        file: sampleFile('file_1'),
        chunks: chunksOf('The quick-brown fox', 'jumps_over (the) lazy dog', 'v1.25, x=7'),
      })
      assert.deepEqual(await findTexts(store, 'fox BROWN'), ['The quick-brown fox'])
      assert.deepEqual(await findTexts(store, 'over;jumps'), ['jumps_over (the) lazy dog'])
      assert.deepEqual(await findTexts(store, '25'), ['v1.25, x=7'])
      assert.deepEqual(await findTexts(store, 'lazy/unknown'), ['jumps_over (the) lazy dog'])
      assert.equal((await findTexts(store, 'dog fox')).length, 2)
      assert.deepEqual(await findTexts(store, 'qui row unknown'), [])
    },
  },
  {
    name: 'search: case and accents do not matter, nor how they are written',
    async run({ open }) {
      const store = await open()
      const texts = [
        'Ångström',
        'cafe\u0301',
        'ﬁnance ２０２４',
        'Łódź ΣΟΦΟΣ',
        'İstanbul',
        `x ${RECENT}`,
      ]
      await processFiles(store, { file: sampleFile('file_1'), chunks: chunksOf(...texts) })
      const asked: readonly (readonly [string, number])[] = [
        ['angstrom', 0],
        ['A\u030aNGSTRO\u0308M', 0],
        ['CAFÉ', 1],
        ['Finance', 2],
        ['2024', 2],
        ['łodz', 3],
        ['σοφος', 3],
        ['ISTANBUL', 4],
        [RECENT, 5],
      ]
      for (const [query, index] of asked) {
        assert.deepEqual(await findTexts(store, query), [texts[index]], query)
      }
    },
  },
  {
    name: 'search: the headings above a passage find it too',
    async run({ open }) {
      const store = await open()
      const chunks = [
        sampleChunk(0, 'Within two weeks.', { heading: 'Orders > Refunds' }),
        sampleChunk(1, 'By mail.', { heading: 'Orders > Delivery' }),
      ]
      await processFiles(store, { file: sampleFile('file_1'), chunks })
      assert.deepEqual(await findTexts(store, 'refunds'), ['Within two weeks.'])
      assert.equal((await findTexts(store, 'orders')).length, 2)
    },
  },
  {
    name: 'search: more of the words count more, and rarer ones, whatever the number of passages',
    async run({ open }) {
      const store = await open()
      await processFiles(store, {
        file: sampleFile('file_1'),
        chunks: chunksOf(
          'common one of many here',
          'common common two of many',
          'common rare three of them',
          'common rare unique four of',
          'rare five of many here now',
          'common six',
        ),
      })
      const [best, next] = await findTexts(store, 'common rare unique')
      assert.deepEqual([best, next], ['common rare unique four of', 'common rare three of them'])
      const [rarer] = await findTexts(store, 'five common')
      assert.equal(rarer, 'rare five of many here now')
      assert.deepEqual(await findTexts(store, 'common rare unique', { limit: 2 }), [best, next])
      const search = { app_id: 'app_1', query: 'common rare', limit: 9, files: null }
      const scores = (await store.files.search(search)).map(({ score }) => score)
      assert.deepEqual(
        scores,
        scores.toSorted((a, b) => b - a),
      )
    },
  },
]

/** What is no query of words, or one that a database could take for its own language. */
const HOSTILE: readonly string[] = [
  '',
  ' \t\n',
  '!?.,;:-_"\'`´()[]{}<>|&*^~\\/§$%#@+=',
  '"',
  "'",
  '\u0001\u0007\u001f\u007f\u200b\u202e',
  '😀 ☃',
  '\u0301\u0308',
]

const hostileCases: readonly PlatformCase[] = [
  {
    name: 'search: a query without words finds nothing',
    async run({ open }) {
      const store = await open()
      await processFiles(store, {
        file: sampleFile('file_1'),
        chunks: chunksOf('alpha', '!?.,"\'\\ 😀 \u0301', ...HOSTILE.filter((text) => text !== '')),
      })
      for (const query of HOSTILE) assert.deepEqual(await findTexts(store, query), [], query)
    },
  },
  {
    name: 'search: no query is anything but words',
    async run({ open }) {
      const store = await open()
      await processFiles(store, {
        file: sampleFile('file_1'),
        chunks: chunksOf('alpha', 'and or not near', 'app words'),
      })
      const asked: readonly (readonly [string, readonly string[]])[] = [
        ['AND OR NEAR(', ['and or not near']],
        ['alpha" OR "x', ['alpha', 'and or not near']],
        ["alpha' | 'x", ['alpha']],
        ['alpha* ^alpha alph*', ['alpha']],
        ['-alpha', ['alpha']],
        ['!alpha & zeta', ['alpha']],
        ['alpha:*', ['alpha']],
        ['app:alpha', ['alpha', 'app words']],
        ['words : beta', ['app words']],
        ["alpha\\' \\", ['alpha']],
        ["'; DROP TABLE files; --", []],
        ['al\u0001pha', []],
        ['alp', []],
      ]
      for (const [query, expected] of asked) {
        assert.deepEqual((await findTexts(store, query)).sort(), expected, query)
      }
    },
  },
  {
    name: 'search: of very many words the first are asked, and a very long one is a word',
    async run({ open }) {
      const store = await open()
      const long = 'x'.repeat(5000)
      await processFiles(store, { file: sampleFile('file_1'), chunks: chunksOf('alpha', long) })
      const many = Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(' ')
      assert.deepEqual(await findTexts(store, `alpha ${many}`), ['alpha'])
      assert.deepEqual(await findTexts(store, `${many} alpha`), [])
      assert.deepEqual(await findTexts(store, `${'beta '.repeat(10_000)} alpha`), ['alpha'])
      assert.deepEqual(await findTexts(store, long), [long])
    },
  },
]

/** More passages than a database may look at one by one, in three files. */
const MANY = ['file_1', 'file_2', 'file_3'].map((id) => ({
  file: sampleFile(id),
  chunks: chunksOf(
    ...Array.from({ length: 900 }, (_, at) => {
      const common = 'one two three four five six seven eight'
      return `${common} ${id} ${id === 'file_2' && at === 450 ? 'needle' : `hay${at}`}`
    }),
  ),
}))
const NEEDLE = 'one two three four five six seven eight file_2 needle'

const manyCases: readonly PlatformCase[] = [
  {
    name: 'search: of many passages a rare word is found wherever it stands, beside whatever others',
    async run({ open }) {
      const store = await open()
      await processFiles(store, ...MANY)
      assert.deepEqual(await findTexts(store, 'needle'), [NEEDLE])
      for (const query of ['one needle', `${NEEDLE} missing`]) {
        const found = await findTexts(store, query)
        assert.deepEqual([found[0], found.length], [NEEDLE, 50], query)
      }
      const found = await findTexts(store, 'needle hay7')
      assert.equal(found[0], NEEDLE, 'one passage holds it, three the other')
      assert.equal(found.length, 4)
      assert.deepEqual(await findTexts(store, 'missing'), [])
    },
  },
  {
    name: 'search: of many passages it answers as many as asked for, each time the same, within its files',
    async run({ open }) {
      const store = await open()
      await processFiles(store, ...MANY)
      const common = 'eight seven six five four three two one'
      for (const query of ['one', common]) {
        for (const files of [undefined, ['file_3'], ['file_1', 'file_3']]) {
          const kept = files === undefined ? {} : { files }
          const first = await findTexts(store, query, kept)
          assert.equal(first.length, 50)
          assert.deepEqual(await findTexts(store, query, kept), first)
          const own = (text: string) => files?.some((id) => text.includes(id)) ?? true
          assert.ok(first.every(own), query)
        }
      }
      assert.deepEqual(await findTexts(store, 'needle', { files: ['file_1', 'file_3'] }), [])
      assert.equal((await findTexts(store, 'hay7', { files: ['file_3'] })).length, 1)
    },
  },
  {
    name: 'search: passages of files that are processed at once are each found once, those of one alone',
    async run({ open }) {
      const store = await open()
      const ids = ['file_1', 'file_2', 'file_3', 'file_4']
      await insertFiles(store, ...ids.map((id) => sampleFile(id)))
      for (const id of ids) await claimFile(store, id, BORN)
      for (const ordinal of [0, 1, 2]) {
        for (const id of ids) {
          const chunks = [sampleChunk(ordinal, `alpha ${id} ${ordinal}`)]
          await store.write((tx) => tx.files.addChunks(id, id, chunks))
        }
      }
      const end = { ...PROCESSED, chunks: 3 }
      for (const id of ['file_1', 'file_3', 'file_4']) {
        await store.write((tx) => tx.files.finish(id, id, BORN, end))
      }
      const found = (await findTexts(store, 'alpha')).toSorted()
      assert.deepEqual(
        found,
        ['file_1', 'file_3', 'file_4'].flatMap((id) => [0, 1, 2].map((at) => `alpha ${id} ${at}`)),
      )
      const files = ['file_1', 'file_4']
      assert.equal((await findTexts(store, 'alpha', { files })).length, 6)
    },
  },
]

const boundCases: readonly PlatformCase[] = [
  {
    name: 'search: nothing of another app is found, however alike the ids',
    async run({ open }) {
      const store = await open()
      const apps = ['app_1', 'APP_1', 'app_1_1', 'app 1', 'app', '1', 'a\'p"p']
      const files = apps.map((app_id, index) => ({
        file: sampleFile(`file_${index}`, { app_id }),
        chunks: chunksOf(`alpha of ${app_id}`),
      }))
      await processFiles(store, ...files)
      for (const app_id of apps) {
        assert.deepEqual(await findTexts(store, 'alpha', { app_id }), [`alpha of ${app_id}`])
      }
      assert.deepEqual(await findTexts(store, 'alpha', { app_id: 'app_9' }), [])
      assert.deepEqual(await findTexts(store, 'beta', { app_id: 'app_1' }), [])
      // What the index itself says of an app is no word of its passages.
      const own = Buffer.from('app_1').toString('hex')
      assert.deepEqual(await findTexts(store, `${own} app${own} :app${own}`), [])
    },
  },
  {
    name: 'search: it can be kept to some files, and answers no more than asked for',
    async run({ open }) {
      const store = await open()
      const files = ['file_1', 'file_2', 'file_3'].map((id) => ({
        file: sampleFile(id),
        chunks: chunksOf(`alpha ${id}`, `alpha more ${id}`),
      }))
      await processFiles(store, ...files)
      assert.deepEqual((await findTexts(store, 'alpha', { files: ['file_2', 'file_9'] })).sort(), [
        'alpha file_2',
        'alpha more file_2',
      ])
      assert.deepEqual(await findTexts(store, 'alpha', { files: [] }), [])
      assert.equal((await findTexts(store, 'alpha', { limit: 4 })).length, 4)
      assert.equal((await findTexts(store, 'alpha', { limit: 50 })).length, 6)
      assert.equal((await findTexts(store, 'alpha', { files: ['file_3'], limit: 1 })).length, 1)
    },
  },
  {
    name: 'search: nothing is found of a file that waits, is processed, failed or was deleted',
    async run({ open }) {
      const store = await open()
      await processFiles(store, { file: sampleFile('file_1'), chunks: chunksOf('alpha 1') })
      const begin = async (id: string): Promise<void> => {
        await insertFiles(store, sampleFile(id))
        await claimFile(store, id, BORN)
        await store.write((tx) => tx.files.addChunks(id, id, chunksOf(`alpha ${id}`)))
      }
      await begin('file_2')
      await begin('file_3')
      await store.write((tx) => tx.files.finish('file_3', 'file_3', BORN, FAILED))
      await begin('file_4')
      await store.write((tx) => tx.files.finish('file_4', 'file_4', BORN, PROCESSED))
      await store.write((tx) => tx.files.remove('app_1', 'file_4'))
      await begin('file_5')
      await store.write((tx) => tx.files.finish('file_5', 'file_5', BORN, FAILED))
      await store.write((tx) => tx.files.retry('file_5'))
      assert.deepEqual(await findTexts(store, 'alpha'), ['alpha 1'])
      await store.write((tx) => tx.files.finish('file_2', 'file_2', BORN, PROCESSED))
      assert.deepEqual((await findTexts(store, 'alpha')).sort(), ['alpha 1', 'alpha file_2'])
    },
  },
  {
    name: 'search: a unit sees what it did itself',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'))
      await claimFile(store, 'a', BORN)
      const search = { app_id: 'app_1', query: 'alpha', limit: 5, files: null }
      const counts = await store.write(async (tx) => {
        await tx.files.addChunks('file_1', 'a', chunksOf('alpha'))
        const before = await tx.files.search(search)
        await tx.files.finish('file_1', 'a', BORN, PROCESSED)
        const after = await tx.files.search(search)
        await tx.files.remove('app_1', 'file_1')
        return [before.length, after.length, (await tx.files.search(search)).length]
      })
      assert.deepEqual(counts, [0, 1, 0])
    },
  },
]

/** Knowledge-base files: what a search finds. */
export const fileSearchCases: readonly PlatformCase[] = [
  ...wordCases,
  ...hostileCases,
  ...manyCases,
  ...boundCases,
]

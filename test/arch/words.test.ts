import t from 'tap'
import { sourcesIn } from './source.ts'
import type { ForbiddenWord } from './words.ts'
import { FOLDERS, FORBIDDEN } from './words.ts'

const sources = FOLDERS.flatMap(sourcesIn)

/** The words of a text in lower case, names split where they change case. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return new Set(words.map((word) => word.toLowerCase()))
}

function isExcepted({ except = [] }: ForbiddenWord, path: string): boolean {
  return except.some((prefix) => path.startsWith(prefix))
}

await t.test('words that were replaced do not come back', async (t) => {
  const found = sources.flatMap(({ path, text }) => {
    const words = wordsOf(`${path}\n${text}`)
    return FORBIDDEN.filter((row) => !isExcepted(row, path)).flatMap((row) =>
      row.words.filter((word) => words.has(word)).map((word) => `${path}: ${word}, say ${row.say}`),
    )
  })
  t.same(found, [])
})

await t.test('every forbidden word can be found', async (t) => {
  for (const word of FORBIDDEN.flatMap(({ words }) => words)) t.ok(wordsOf(word).has(word), word)
})

await t.test('every exception is still needed', async (t) => {
  const unneeded = FORBIDDEN.flatMap((row) =>
    (row.except ?? []).filter((prefix) => {
      const files = sources.filter(({ path }) => path.startsWith(prefix))
      return !files.some(({ text }) => row.words.some((word) => wordsOf(text).has(word)))
    }),
  )
  t.same(unneeded, [])
})

await t.test('a word is found in a name, in a constant and in a comment', async (t) => {
  for (const text of ['bearDelivery()', 'const TO_BEAR = 1', '/** What we bear. */', 'a.bear()']) {
    t.ok(wordsOf(text).has('bear'), text)
  }
  t.notOk(wordsOf('bearer of news').has('bear'))
})

import { MAX_TEXT_CHARACTERS, MAX_TEXTS } from './contract.ts'

/** @throws TypeError for more than an embedder takes at once */
export function requireTexts(texts: readonly string[]): void {
  const fits = texts.every(({ length }) => length > 0 && length <= MAX_TEXT_CHARACTERS)
  if (fits && texts.length > 0 && texts.length <= MAX_TEXTS) return
  throw new TypeError(
    `an embedder takes 1 to ${MAX_TEXTS} texts of 1 to ${MAX_TEXT_CHARACTERS} characters`,
  )
}

/** Whether a name stands in a text as words of its own. */
export type FindName = (name: string) => boolean

const WORD = /[\p{L}\p{N}]+/gu

/**
 * Reads the words of a text once, so that many names can be looked for in it: a name is compared only where
 * its first word stands.
 *
 * @example
 * findNames('Publish the Shop.')('shop') // true
 * findNames('Publish the shopfront.')('shop') // false
 */
export function findNames(text: string): FindName {
  const among = text.toLowerCase()
  const starts = new Map<string, number[]>()
  /** Of each character, whether it is part of a word. */
  const isOfWord: boolean[] = []
  for (const { 0: word, index } of among.matchAll(WORD)) {
    const known = starts.get(word)
    if (known === undefined) starts.set(word, [index])
    else known.push(index)
    for (let at = index; at < index + word.length; at += 1) isOfWord[at] = true
  }
  const standsAt = (wanted: string, at: number): boolean =>
    among.startsWith(wanted, at) &&
    isOfWord[at - 1] !== true &&
    isOfWord[at + wanted.length] !== true
  const look = (wanted: string): boolean => {
    const [first] = wanted.matchAll(WORD)
    if (first !== undefined) {
      const { 0: word, index } = first
      return (starts.get(word) ?? []).some((at) => at >= index && standsAt(wanted, at - index))
    }
    for (let at = among.indexOf(wanted); at !== -1; at = among.indexOf(wanted, at + 1)) {
      if (standsAt(wanted, at)) return true
    }
    return false
  }
  const known = new Map<string, boolean>()
  return (name) => {
    const wanted = name.trim().toLowerCase()
    if (wanted === '') return false
    const found = known.get(wanted) ?? look(wanted)
    known.set(wanted, found)
    return found
  }
}

/** Where a text stands in another: once, not at all, or more than once. */
export type Place = number | 'nowhere' | 'often'

/**
 * Finds where a text stands in another, in time that grows with their lengths alone (Knuth, Morris,
 * Pratt): `indexOf` takes their product for texts that repeat themselves, and both are the caller's.
 */
export function placeOf(search: string, text: string): Place {
  if (search === '') return 'nowhere'
  const borders = bordersOf(search)
  let found: Place = 'nowhere'
  let matched = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && search.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
    if (search.charCodeAt(matched) === unit) matched += 1
    if (matched < search.length) continue
    if (found !== 'nowhere') return 'often'
    found = at - matched + 1
    matched = borders[matched - 1] ?? 0
  }
  return found
}

/** For each prefix the length of the longest shorter one that it ends with. */
function bordersOf(search: string): Int32Array {
  const borders = new Int32Array(search.length)
  let length = 0
  for (let at = 1; at < search.length; at += 1) {
    const unit = search.charCodeAt(at)
    while (length > 0 && search.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0
    if (search.charCodeAt(length) === unit) length += 1
    borders[at] = length
  }
  return borders
}

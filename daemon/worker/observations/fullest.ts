/** The largest of several, the first of equals; undefined for none. */
export function fullest<T>(several: Iterable<T>, sizeOf: (one: T) => number): T | undefined {
  let found: T | undefined
  for (const one of several) {
    if (found === undefined || sizeOf(one) > sizeOf(found)) found = one
  }
  return found
}

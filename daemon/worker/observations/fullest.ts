/** Of several the one that holds most, the first of equals: room for one more is made in it. */
export function fullest<T>(several: Iterable<T>, sizeOf: (one: T) => number): T | undefined {
  let found: T | undefined
  for (const one of several) {
    if (found === undefined || sizeOf(one) > sizeOf(found)) found = one
  }
  return found
}

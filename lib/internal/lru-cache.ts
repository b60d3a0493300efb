/** Bounds of a cache: at least one of the two. */
export interface LruOptions<Value extends NonNullable<unknown>> {
  /** Maximum number of entries. Default: unlimited. */
  readonly max?: number
  /** Maximum sum of the sizes. Default: unlimited. */
  readonly maxSize?: number
  /** Size of a value when it is set. Default 1. */
  readonly sizeOf?: (value: Value) => number
  /** Called for each entry that leaves: evicted, replaced, deleted or cleared. */
  readonly dispose?: (value: Value, key: string) => void
}

/** An entry between its neighbours in the order of use. */
interface Entry<Value> {
  readonly key: string
  readonly value: Value
  readonly size: number
  older: Entry<Value> | undefined
  newer: Entry<Value> | undefined
}

/**
 * Least-recently-used cache: reading or setting an entry makes it the last to be evicted. A value that alone
 * exceeds the bounds is not kept.
 *
 * The order is a linked list: the first key of a Map is found slowly once many before it were deleted.
 *
 * @example
 * const pages = new LruCache<Page>({ maxSize: 1_000_000, sizeOf: ({ bytes }) => bytes })
 */
export class LruCache<Value extends NonNullable<unknown>> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #options: LruOptions<Value>
  #oldest: Entry<Value> | undefined
  #newest: Entry<Value> | undefined
  #size = 0

  constructor(options: LruOptions<Value>) {
    this.#options = options
  }

  /** Sum of the sizes. */
  get size(): number {
    return this.#size
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry !== this.#newest) {
      this.#unlink(entry)
      this.#append(entry)
    }
    return entry?.value
  }

  /** As `get`, and the order stays. */
  peek(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }

  set(key: string, value: Value): void {
    this.delete(key)
    const { max = Infinity, maxSize = Infinity, sizeOf } = this.#options
    const size = sizeOf?.(value) ?? 1
    if (size > maxSize) return
    const entry = { key, value, size, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#append(entry)
    this.#size += size
    while (this.#oldest && (this.#entries.size > max || this.#size > maxSize)) {
      this.delete(this.#oldest.key)
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#unlink(entry)
    this.#size -= entry.size
    this.#options.dispose?.(entry.value, key)
  }

  clear(): void {
    for (const [key] of this) this.delete(key)
  }

  /** From the oldest; the current entry may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<readonly [key: string, value: Value]> {
    for (let entry = this.#oldest; entry !== undefined;) {
      const { key, value, newer } = entry
      yield [key, value]
      entry = newer
    }
  }

  #append(entry: Entry<Value>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
  }

  #unlink({ older, newer }: Entry<Value>): void {
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
  }
}

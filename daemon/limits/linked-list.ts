interface Node<T> {
  readonly value: T
  previous: Node<T> | undefined
  next: Node<T> | undefined
}

/**
 * Values in the order in which they were added, for those that come and go with each request.
 *
 * In a `Set` they would outlive their request: every some additions it moves to a new table, and the former table,
 * once in V8's old generation, keeps the new one and all values that both held until the next full garbage
 * collection. It is a class for the same reason: V8 keeps a hidden class for each object literal with a getter.
 *
 * @example
 * const list = new LinkedList<string>()
 * const remove = list.add('a')
 * remove()
 * list.isEmpty // true
 */
export class LinkedList<T> implements Iterable<T> {
  #first: Node<T> | undefined
  #last: Node<T> | undefined

  get isEmpty(): boolean {
    return this.#first === undefined
  }

  /** Adds a value at the end, and returns a function that removes it; idempotent. */
  add(value: T): () => void {
    let node: Node<T> | undefined = { value, previous: this.#last, next: undefined }
    if (this.#last === undefined) this.#first = node
    else this.#last.next = node
    this.#last = node
    return () => {
      if (node !== undefined) this.#unlink(node)
      node = undefined
    }
  }

  /** The value that was given last may be removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    let node = this.#first
    while (node !== undefined) {
      const { value, next } = node
      yield value
      node = next
    }
  }

  /** A removed node must not keep its former neighbours in memory. */
  #unlink(node: Node<T>): void {
    const { previous, next } = node
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    node.previous = undefined
    node.next = undefined
  }
}

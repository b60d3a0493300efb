interface Node<T> {
  readonly value: T
  previous: Node<T> | undefined
  next: Node<T> | undefined
}

/** Values in the order in which they were added. */
export interface LinkedList<T> extends Iterable<T> {
  readonly isEmpty: boolean
  /** Adds a value at the end, and returns a function that removes it; idempotent. */
  add(value: T): () => void
}

/**
 * For values that come and go with each request. In a `Set` they would outlive their request: every some
 * additions it moves to a new table, and the former table, once in V8's old generation, keeps the new one and
 * all values that both held until the next full garbage collection.
 *
 * @example
 * const list = createLinkedList<string>()
 * const remove = list.add('a')
 * remove()
 * list.isEmpty // true
 */
export function createLinkedList<T>(): LinkedList<T> {
  let first: Node<T> | undefined
  let last: Node<T> | undefined

  /** A removed node must not keep its former neighbours in memory. */
  function unlink(node: Node<T>): void {
    const { previous, next } = node
    if (previous === undefined) first = next
    else previous.next = next
    if (next === undefined) last = previous
    else next.previous = previous
    node.previous = undefined
    node.next = undefined
  }

  return {
    get isEmpty() {
      return first === undefined
    },
    add(value) {
      let node: Node<T> | undefined = { value, previous: last, next: undefined }
      if (last === undefined) first = node
      else last.next = node
      last = node
      return () => {
        if (node !== undefined) unlink(node)
        node = undefined
      }
    },
    /** The value that was given last may be removed meanwhile. */
    *[Symbol.iterator]() {
      let node = first
      while (node !== undefined) {
        const { value, next } = node
        yield value
        node = next
      }
    },
  }
}

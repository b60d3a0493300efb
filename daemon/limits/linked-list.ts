/** A value of a list; pass it to `remove`. */
export interface ListNode<T> {
  readonly value: T
  previous: ListNode<T> | undefined
  next: ListNode<T> | undefined
  isLinked: boolean
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
 * const node = list.add('a')
 * list.remove(node)
 * list.isEmpty // true
 */
export class LinkedList<T> implements Iterable<T> {
  #first: ListNode<T> | undefined
  #last: ListNode<T> | undefined

  get isEmpty(): boolean {
    return this.#first === undefined
  }

  /** Adds a value at the end. */
  add(value: T): ListNode<T> {
    const node: ListNode<T> = { value, previous: this.#last, next: undefined, isLinked: true }
    if (this.#last === undefined) this.#first = node
    else this.#last.next = node
    this.#last = node
    return node
  }

  /** Removes a value; idempotent. A removed node must not keep its former neighbours in memory. */
  remove(node: ListNode<T>): void {
    if (!node.isLinked) return
    const { previous, next } = node
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    node.previous = undefined
    node.next = undefined
    node.isLinked = false
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
}

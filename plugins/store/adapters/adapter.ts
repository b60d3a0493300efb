/**
 * How the running transaction of a library is joined.
 *
 * @module
 */

/**
 * Finds the connection of a transaction that a library began. It recognizes the transaction by its shape,
 * since an embedder may have another copy of the library.
 */
export interface TransactionAdapter<Transaction extends object = object> {
  /** Whether it is a transaction of the library, as the library passes to a callback. */
  recognizes(value: object): value is Transaction
  /**
   * Its connection: a client of pg, a connection of sqlite3, or a transaction of another library.
   *
   * @throws TypeError when there is no transaction
   */
  connectionOf(transaction: Transaction): object | Promise<object>
}

/** Members of an object or of a function, of any type. */
export type Members = Readonly<Record<string, unknown>>

/** Objects and functions have members. */
export function hasMembers(value: unknown): value is Members {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

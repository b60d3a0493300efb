/**
 * The connection of a transaction that somebody else began: given as it is, or as Sequelize's.
 *
 * @throws TypeError for anything else, such as a transaction that has ended
 */
export function connectionOf<Connection>(
  transaction: unknown,
  isConnection: (value: unknown) => value is Connection,
): Connection {
  if (isConnection(transaction)) return transaction
  if (isObject(transaction) && transaction['finished'] === undefined) {
    const { connection } = transaction
    if (isConnection(connection)) return connection
  }
  throw new TypeError(
    'transaction must be an open one: what its library hands to the callback, such as tx, and not the database or a pool',
  )
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

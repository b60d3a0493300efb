const sockets = new WeakSet<object>()

/**
 * Lets the request on a socket take longer than the server's limit of time, until the answer is called.
 * Whoever reads it has limits of their own.
 */
export function allowLong(socket: object): () => void {
  sockets.add(socket)
  return () => {
    sockets.delete(socket)
  }
}

export function mayTakeLong(socket: object): boolean {
  return sockets.has(socket)
}

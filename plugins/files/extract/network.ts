/**
 * Takes away what opens connections. The libraries have no reason to: it is a second wall, behind
 * documents being bytes that nothing resolves.
 */
export function forbidNetwork(): void {
  const refuse = (): never => {
    throw new Error('a document is read without network')
  }
  const { Socket } = process.getBuiltinModule('node:net')
  Object.assign(Socket.prototype, { connect: refuse })
  Object.assign(process.getBuiltinModule('node:dgram').Socket.prototype, {
    bind: refuse,
    send: refuse,
  })
  Object.assign(process.getBuiltinModule('node:dns'), { lookup: refuse })
  Object.assign(globalThis, { fetch: refuse, WebSocket: refuse })
}

import { Duplex } from 'node:stream'

/**
 * What stands for the socket of a request that came without one: its peer's address, whether it is still
 * there, and how fast it reads.
 */
export class WebConnection extends Duplex {
  readonly remoteAddress: string
  readonly encrypted: boolean
  /** As a socket counts the bytes that its peer has taken: the pace of readers is read from it. */
  readonly _handle: { bytesWritten: number; readonly writeQueueSize: number } = {
    bytesWritten: 0,
    writeQueueSize: 0,
  }

  /**
   * @param waiting bytes of the response that nobody has read yet
   */
  constructor(remoteAddress: string, encrypted: boolean, waiting: () => number) {
    super({ autoDestroy: false })
    this.remoteAddress = remoteAddress
    this.encrypted = encrypted
    Object.defineProperty(this, 'writableLength', { get: waiting })
  }

  override _read(): void {
    // Bodies of requests are read from the request.
  }

  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    done()
  }
}

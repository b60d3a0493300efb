/** The most characters of one line; a server that sends more is not speaking the protocol. */
export const MAX_LINE = 1_048_576

/**
 * Reads server-sent events as they arrive, however they are cut: of each, its data.
 *
 * Of the format, what models' servers use: `data` lines, comments, and line ends of all three kinds.
 */
export class EventReader {
  readonly #decoder = new TextDecoder()
  #rest = ''
  #isHalf = false
  #data: string[] = []
  #size = 0

  /**
   * The data of the events that these bytes complete.
   *
   * @throws RangeError for an event of more than `MAX_LINE` characters
   */
  push(bytes: Uint8Array): readonly string[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }), false)
  }

  /** What is left when the stream ends: servers are known to forget the last blank line. */
  end(): readonly string[] {
    return this.#read(`${this.#decoder.decode()}\n\n`, true)
  }

  #read(text: string, isLast: boolean): readonly string[] {
    let arrived = this.#isHalf ? `\r${text}` : text
    // It may be the first half of a line end.
    this.#isHalf = !isLast && arrived.endsWith('\r')
    if (this.#isHalf) arrived = arrived.slice(0, -1)
    // Splitting what is held again and again would make a long line cost its square.
    if (!/[\r\n]/.test(arrived)) {
      this.#rest += arrived
      this.#limit(this.#rest.length)
      return []
    }
    const lines = (this.#rest + arrived).split(/\r\n|\n|\r/)
    this.#rest = lines.pop() ?? ''
    return lines.flatMap((line) => this.#take(line))
  }

  #take(line: string): readonly string[] {
    if (line === '') {
      const data = this.#data
      this.#data = []
      this.#size = 0
      return data.length > 0 ? [data.join('\n')] : []
    }
    const [, value] = /^data(?:: ?(.*))?$/s.exec(line) ?? []
    if (value !== undefined) {
      this.#size += value.length
      this.#limit(this.#size)
      this.#data.push(value)
    }
    return []
  }

  #limit(size: number): void {
    if (size > MAX_LINE) throw new RangeError('an event is too long')
  }
}

import { SECOND } from '../../lib/time.ts'

/** Input and output of a command; tests replace those of the process. */
export interface Terminal {
  readonly env: Readonly<NodeJS.ProcessEnv>
  out(text: string): void
  err(text: string): void
  /** Shows one line to a waiting person, replacing the previous one; undefined: nobody watches. */
  readonly notice?: ((text: string) => void) | undefined
  /** All of standard input. */
  readInput(): Promise<string>
}

/** The terminal of this process. */
export const processTerminal: Terminal = {
  env: process.env,
  out(text) {
    process.stdout.write(text)
  },
  err(text) {
    process.stderr.write(text)
  },
  notice: process.stderr.isTTY
    ? (text) => {
        process.stderr.write(`\r\u001b[K${text}`)
      }
    : undefined,
  async readInput() {
    if (process.stdin.isTTY) process.stderr.write('Type it, then Enter and Ctrl-D.\n')
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString()
  },
}

/** Shows once per second how long the work takes, to a person who watches. */
export async function withWaitNotice<T>({ notice }: Terminal, work: Promise<T>): Promise<T> {
  if (notice === undefined) return work
  let seconds = 0
  const timer = setInterval(() => {
    notice(`at work for ${++seconds} s`)
  }, SECOND)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (seconds > 0) notice('')
  }
}

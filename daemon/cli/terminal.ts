import { once } from 'node:events'
import { SECOND } from '../../lib/time.ts'

/** Input and output of a command; tests replace those of the process. */
export interface Terminal {
  readonly env: Readonly<NodeJS.ProcessEnv>
  out(text: string): void
  err(text: string): void
  /** Shows one line to a waiting person, replacing the previous one; undefined: nobody watches. */
  readonly notice?: ((text: string) => void) | undefined
  /** Shows a page, replacing the previous one; undefined: standard output is no terminal. */
  readonly screen?: ((page: string) => void) | undefined
  /** All of standard input. */
  readInput(): Promise<string>
  /** Asks for one line; undefined: standard input is no terminal. */
  readonly prompt?: Prompt | undefined
}

/** @param typed whether what is typed is shown */
type Prompt = (question: string, typed: 'shown' | 'hidden') => Promise<string>

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
  screen: process.stdout.isTTY
    ? (page) => {
        // Written over line by line: a screen that is cleared first flickers.
        process.stdout.write(`\u001b[H${page.replaceAll('\n', '\u001b[K\n')}\u001b[J`)
      }
    : undefined,
  async readInput() {
    if (process.stdin.isTTY) process.stderr.write('Type it, then Enter and Ctrl-D.\n')
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString()
  },
  prompt: process.stdin.isTTY ? promptOnTerminal : undefined,
}

async function promptOnTerminal(question: string, typed: 'shown' | 'hidden'): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  // The terminal echoes nothing while it is read key by key; without an output neither does the interface.
  const output = typed === 'shown' ? process.stderr : undefined
  const lines = createInterface({ input: process.stdin, terminal: true, ...(output && { output }) })
  // By the interface where it can: it writes over the line that it reads.
  const shown = typed === 'shown' ? question : ''
  if (typed === 'hidden') process.stderr.write(question)
  try {
    // The end of the input, and Ctrl-C, leave a question without an answer.
    const none = once(lines, 'close').then(() => '')
    return await Promise.race([lines.question(shown).catch(() => ''), none])
  } finally {
    lines.close()
    if (typed === 'hidden') process.stderr.write('\n')
  }
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

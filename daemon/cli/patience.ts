import { SECOND } from '../../lib/time.ts'
import type { Terminal } from './terminal.ts'

/** Says once a second how long work takes, to a person who watches. */
export async function withNotice<T>({ notice }: Terminal, work: Promise<T>): Promise<T> {
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

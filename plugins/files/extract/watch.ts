import { readFile } from 'node:fs/promises'
import type { Millis } from '../../../lib/time.ts'
import type { ExtractLimits } from './limits.ts'

export interface LimitWatch {
  /** Stops the clock; `resume` starts it again where it was. */
  pause(): void
  resume(): void
  end(): void
}

const LOOK_EVERY: Millis = 50
const KIB_PER_MIB = 1024

/** Calls `exceeded` once a child takes too long, or too much memory where /proc tells it. */
export function watchLimits(
  pid: number | undefined,
  limits: ExtractLimits,
  exceeded: (code: 'timed_out' | 'out_of_memory') => void,
): LimitWatch {
  let left = limits.wall
  let since = performance.now()
  let timer: NodeJS.Timeout | undefined

  function resume(): void {
    since = performance.now()
    timer = setTimeout(() => {
      exceeded('timed_out')
    }, left)
  }

  function pause(): void {
    clearTimeout(timer)
    left -= performance.now() - since
  }

  const looker = setInterval(() => {
    void residentKib(pid).then((kib) => {
      if (kib > limits.resident * KIB_PER_MIB) exceeded('out_of_memory')
    })
  }, LOOK_EVERY)

  resume()
  return {
    pause,
    resume,
    end() {
      clearTimeout(timer)
      clearInterval(looker)
    },
  }
}

/** 0 where it is not told: on other systems, and of a child that has ended. */
async function residentKib(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0)
}

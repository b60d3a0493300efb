import type { Steps } from '../../daemon/queues/steps.ts'

/** Runs all steps of long work at once. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

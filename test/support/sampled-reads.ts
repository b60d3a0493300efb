/** What reads that were sent at a steady pace came to. */
export interface Sampled {
  readonly count: number
  /** Those that were not answered with 200, each with what came instead. */
  readonly unanswered: readonly string[]
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly most: number
}

/** Sends a read every so many milliseconds, whether the last was answered or not, until it is stopped. */
export function sampleReads(
  urls: readonly [string, ...string[]],
  headers: Readonly<Record<string, string>>,
  every: number,
): { stop(): Promise<Sampled> } {
  const reads: Promise<void>[] = []
  const times: number[] = []
  const unanswered: string[] = []

  async function read(url: string): Promise<void> {
    const began = performance.now()
    try {
      const response = await fetch(url, { headers })
      const text = await response.text()
      if (response.status !== 200) unanswered.push(`${response.status} ${text}`)
    } catch (cause) {
      unanswered.push(String(cause))
    }
    times.push(performance.now() - began)
  }

  const timer = setInterval(() => {
    reads.push(read(urls[reads.length % urls.length] ?? urls[0]))
  }, every)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(reads)
      const sorted = times.toSorted((a, b) => a - b)
      const at = (part: number): number =>
        Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? NaN)
      return { count: sorted.length, unanswered, p50: at(0.5), p99: at(0.99), most: at(1) }
    },
  }
}

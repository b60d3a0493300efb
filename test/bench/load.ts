import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'
import { serve } from './child.ts'

export interface LoadRequest {
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
  readonly seconds: number
}

export interface LoadResult {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/** A closed loop: each connection sends its next request when the last was answered. */
async function load(request: LoadRequest): Promise<LoadResult> {
  const { origin, path, headers, body, connections, seconds } = request
  const pool = new Pool(origin, { connections })
  const times: number[] = []
  const started = performance.now()
  const end = started + seconds * 1000
  async function client(): Promise<void> {
    for (let now = started; now < end;) {
      const answer = await pool.request({ method: 'POST', path, headers, body })
      await answer.body.dump()
      if (answer.statusCode !== 202) throw new Error(`answered ${answer.statusCode}`)
      const after = performance.now()
      times.push(after - now)
      now = after
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  const took = (performance.now() - started) / 1000
  await pool.close()
  times.sort((a, b) => a - b)
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? 0
  return { perSecond: times.length / took, p50: at(0.5), p99: at(0.99) }
}

serve({ load })

import { randomUUID } from 'node:crypto'
import type { Json, Reply } from './wire.ts'
import { createWire } from './wire.ts'

/** The daemon as the checks see it: the operator, who asks until there is an answer. */
export interface Api {
  /** @throws Error for a refusal, and when there is no answer for a long time */
  ask(method: string, path: string, body?: unknown): Promise<Json>
  /** Every record of a list, page by page, until `enough` says so. */
  list(path: string, enough?: (page: readonly Json[]) => boolean): Promise<readonly Json[]>
}

/** While daemons die as soon as they serve, an answer takes many of them. */
const PATIENCE = 300_000
const AGAIN = 30

export function createApi(origins: readonly string[], operator: string, account?: string): Api {
  const send = createWire()

  async function ask(method: string, path: string, body?: unknown): Promise<Json> {
    const end = Date.now() + PATIENCE
    const headers = {
      ...(account !== undefined && { 'keyhook-account': account }),
      // What was done without an answer is not done again.
      ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
    }
    for (let tries = 0; ; tries++) {
      const origin = origins[tries % origins.length] ?? ''
      const reply: Reply = await send(origin, { method, path, token: operator, body, headers })
      if (reply.outcome === 'ok') return reply.body
      if (reply.outcome === 'fail' && reply.status !== 0) {
        throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      }
      if (Date.now() > end) throw new Error(`${method} ${path}: no answer in ${PATIENCE} ms`)
      await new Promise((resolve) => setTimeout(resolve, AGAIN))
    }
  }

  return {
    ask,
    async list(path, enough = () => false) {
      const found: Json[] = []
      const separator = path.includes('?') ? '&' : '?'
      for (let cursor: string | null = null; ;) {
        const next = cursor === null ? '' : `&cursor=${cursor}`
        const page: Json = await ask('GET', `${path}${separator}limit=100${next}`)
        const records = page['data'] as readonly Json[]
        found.push(...records)
        cursor = page['next_cursor'] as string | null
        if (cursor === null || enough(records)) return found
      }
    },
  }
}

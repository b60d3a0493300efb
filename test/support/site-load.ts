/** Requests to the sites behind a proxy, one after another by each of a few clients. */
import { setTimeout as pause } from 'node:timers/promises'
import { SECOND } from '../../lib/time.ts'
import type { siteClient } from './front-proxy.ts'

export interface Load {
  /** When each event was accepted, by its id. */
  readonly accepted: ReadonlyMap<string, number>
  /** What was neither the expected response nor a response at all. */
  readonly failures: readonly string[]
  readonly requests: number
  /** Resolves when no request is in progress. */
  stop(): Promise<void>
}

interface Sites {
  readonly client: ReturnType<typeof siteClient>
  /** Host of the API. */
  readonly api: string
  /** Host of an app. */
  readonly site: string
  readonly key: string
}

/** Between two requests of one client. */
const PAUSE = 20
const PUBLISHERS = 4
const READERS = 2
const VISITORS = 2

export function startLoad({ client, api, site, key }: Sites): Load {
  const accepted = new Map<string, number>()
  const failures: string[] = []
  let requests = 0
  let isOver = false
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ type: 'order.paid', data: { text: 'x'.repeat(500) } })
  const publish = async (): Promise<string | undefined> => {
    const { status, text } = await client.ask(api, '/v1/events', { method: 'POST', headers, body })
    if (status !== 202) return `POST /v1/events: ${status} ${text}`
    accepted.set((JSON.parse(text) as { readonly id: string }).id, Date.now())
    return undefined
  }
  const read = async (): Promise<string | undefined> => {
    const { status, text } = await client.ask(api, '/v1/keys/self', { headers })
    return status === 200 ? undefined : `GET /v1/keys/self: ${status} ${text}`
  }
  const visit = async (): Promise<string | undefined> => {
    const { status, text } = await client.ask(site, '/')
    return status === 200 ? undefined : `GET an app: ${status} ${text}`
  }
  const repeat = async (send: () => Promise<string | undefined>): Promise<void> => {
    while (!isOver) {
      requests++
      const failure = await send().catch((cause: unknown) => String(cause))
      if (failure !== undefined) failures.push(failure)
      await pause(PAUSE)
    }
  }
  const clients = [
    ...Array.from({ length: PUBLISHERS }, () => repeat(publish)),
    ...Array.from({ length: READERS }, () => repeat(read)),
    ...Array.from({ length: VISITORS }, () => repeat(visit)),
  ]
  return {
    accepted,
    failures,
    get requests() {
      return requests
    },
    async stop() {
      isOver = true
      await Promise.all(clients)
    },
  }
}

/** @param received when each event arrived, by its id */
export function printLoad(
  { accepted, requests, failures }: Load,
  received: ReadonlyMap<string, number>,
): string {
  const late = [...accepted]
    .map(([id, at]) => Math.max(0, (received.get(id) ?? Infinity) - at))
    .sort((a, b) => a - b)
  const at = (share: number): number => late[Math.floor((late.length - 1) * share)] ?? 0
  const above = late.filter((one) => one > SECOND).length
  return (
    `${requests} requests, ${failures.length} failed; ${late.length} deliveries, of which ${above} more than 1 s ` +
    `after the response: median ${at(0.5)} ms, 99 % ${at(0.99)} ms, most ${at(1)} ms`
  )
}

import type { Api } from '../api.ts'
import type { History } from '../history.ts'
import type { Ledger } from '../ledger.ts'
import type { Json } from '../wire.ts'

/** An event as the feed showed it. */
export interface FedEvent {
  readonly id: string
  readonly type: string
  readonly mark: string
}

/** Reads the feed on from where it was, and finds what it should hold. */
export interface FeedCheck {
  /** @param grace how long an acknowledged event may stay hidden behind a transaction that runs */
  run(grace: number): Promise<void>
  /** The events of this chapter, taken once. */
  take(): readonly FedEvent[]
}

export function createFeedCheck(api: Api, history: History, ledger: Ledger): FeedCheck {
  const seen = new Map<string, string>()
  let after: string | undefined
  let chapter: FedEvent[] = []

  async function readOn(): Promise<void> {
    for (;;) {
      const place = after === undefined ? '' : `&after=${encodeURIComponent(after)}`
      const page = await api.ask('GET', `/v1/events?order=asc&limit=100${place}`)
      for (const event of page['data'] as readonly Json[]) {
        after = String(event['position'])
        note(event)
      }
      if (page['has_more'] === false) return
    }
  }

  function note(event: Json): void {
    const { mark } = event['data'] as { readonly mark?: string }
    if (mark === undefined) return
    const id = String(event['id'])
    const known = seen.get(mark)
    ledger.check('accepted.once', known === undefined, () => `${mark} is ${known} and ${id}`)
    seen.set(mark, id)
    chapter.push({ id, type: String(event['type']), mark })
  }

  return {
    async run(grace) {
      const asked = Date.now()
      const acknowledged = [...history.unseen]
      await readOn()
      for (const [mark, { call, end }] of acknowledged) {
        const id = seen.get(mark)
        if (id === undefined && asked - (end?.at ?? asked) < grace) continue
        ledger.check('accepted.kept', id !== undefined, () => {
          return `${mark} was acknowledged at ${end?.at} and is not in the feed`
        })
        const at = call.intent.kind === 'publish' ? call.intent.marks.indexOf(mark) : -1
        const told = end?.ids?.[at]
        ledger.check('accepted.once', id === undefined || told === id, () => {
          return `${mark} was acknowledged as ${told} and is ${id}`
        })
        history.unseen.delete(mark)
      }
    },
    take: () => chapter.splice(0),
  }
}
